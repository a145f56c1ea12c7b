"""Colours and type of the SVG picture.

Okabe and Ito's colours, which people with any kind of colour vision tell apart, on paper that follows the reader's
setting. What a node is shows in its stripe; the critical path is also drawn thicker, so that colour alone says nothing.
"""

STYLE = """
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;unicode-bidi:isolate}
.paper{fill:#fff}
.heading{font:600 14px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1a2128}
.fact{font:12px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#55606b}
.title{font:600 11.5px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#3d4852;
paint-order:stroke;stroke:#f0f3f6;stroke-width:4px;stroke-linejoin:round}
.box{stroke:#c9d1d9;stroke-width:1}.even{fill:#f5f7f9}.odd{fill:#ebeff3}.box.child,.box.body{stroke-dasharray:5 3}
.line{fill:none;stroke:#8c98a4;stroke-width:1;stroke-opacity:.65}.order{stroke-dasharray:3 3}
.head{fill:#8c98a4}
.line.critical{stroke:#d55e00;stroke-width:2;stroke-opacity:1}.head.critical{fill:#d55e00}
.body{fill:#fff;stroke:#9aa6b2;stroke-width:1}.critical .body{stroke:#d55e00;stroke-width:1.8}
.name{font-size:10.5px;fill:#1a2128}.writes{font-size:10.5px;fill:#66727e}
.cost{fill:#d55e00;fill-opacity:.35}
.product .stripe{fill:#0072b2}.launch .stripe{fill:#009e73}.move .stripe{fill:#e69f00}.other .stripe{fill:#999}
@media (prefers-color-scheme:dark){
.paper{fill:#14181d}.heading{fill:#e8edf2}.fact{fill:#9aa6b2}.title{fill:#c3ccd5;stroke:#1e242b}
.box{stroke:#39434d}.even{fill:#1a2026}.odd{fill:#212830}
.line{stroke:#74808c}.head{fill:#74808c}
.line.critical{stroke:#f08a3c}.head.critical{fill:#f08a3c}.critical .body{stroke:#f08a3c}
.body{fill:#0f1317;stroke:#4d5863}.name{fill:#e8edf2}.writes{fill:#8f9ba7}.cost{fill:#f08a3c}
.product .stripe{fill:#56b4e9}
}
"""

_MOVES = ("fill", "copy", "memset", "memcpy")


def family(kind: str, operations: int | None) -> str:
    """The class of a node: `product` for a launch that does products, `launch`, `move` or `other`."""
    if kind == "launch":
        return "product" if operations else "launch"
    return "move" if kind in _MOVES else "other"
