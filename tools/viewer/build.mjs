// Builds the page: bundles the scripts, and writes one HTML file that carries everything. The same sources and the same
// packages of package-lock.json give the same bytes.
//
//   node build.mjs [OUTPUT]     OUTPUT is the shipped page where none is named

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, "../../cgraph/view/assets/page.html");
const BUNDLED = ["@dagrejs/dagre", "@dagrejs/graphlib", "d3-hierarchy"];

const text = (name) => readFileSync(join(here, name), "utf8").replaceAll("\r\n", "\n");
const hash = (content) => `sha256-${createHash("sha256").update(content, "utf8").digest("base64")}`;

/** One hash of all that the page is made from; check_current.py computes the same. */
function sourcesHash() {
  const names = [...readdirSync(join(here, "src")).map((name) => `src/${name}`), "build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
  const digest = createHash("sha256");
  for (const name of names.sort()) digest.update(`${name}\0${text(name)}\0`, "utf8");
  return digest.digest("hex");
}

function licences() {
  return BUNDLED.map((name) => {
    const folder = join("node_modules", name);
    const { version, license } = JSON.parse(text(join(folder, "package.json")));
    const file = readdirSync(join(here, folder)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no licence file`);
    return `${name} ${version} (${license})\n\n${text(join(folder, file)).trim()}`;
  }).join(`\n\n${"-".repeat(80)}\n\n`);
}

const common = { bundle: true, minify: true, write: false, charset: "ascii", target: "es2022", legalComments: "none" };
const script = esbuild.buildSync({ ...common, entryPoints: [join(here, "src/main.ts")], format: "iife" });
const style = esbuild.buildSync({ ...common, entryPoints: [join(here, "src/style.css")] });
const parts = {
  script: script.outputFiles[0].text.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--"),
  style: style.outputFiles[0].text.trim(),
  licences: licences().replaceAll("<", "‹"),
  "sources-hash": sourcesHash(),
};
parts["script-hash"] = hash(parts.script);
parts["style-hash"] = hash(parts.style);
const page = text("src/page.html").replaceAll(/\{\{([a-z-]+)\}\}/g, (_, name) => parts[name]);
writeFileSync(output, page);
console.log(`${output}: ${(page.length / 1024).toFixed(0)} KiB`);
