// Elements from data. Text only ever enters the page as text nodes, so no name can become markup.

type Child = Node | string | null | false;
type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element; `on…` properties are listeners, `class` and others are attributes, false and undefined leave them out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as unknown as EventListener);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child): child is Node | string => child !== null && child !== false));
  return element;
}

export function replace(parent: Element, ...children: (Child | Child[])[]): void {
  parent.replaceChildren(...children.flat().filter((child): child is Node | string => child !== null && child !== false));
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page lacks #${id}`);
  return element;
}
