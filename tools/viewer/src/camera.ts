// Moving and scaling a canvas: dragging, the wheel, two fingers, and changes asked for by keys and buttons.

export interface Camera { x: number; y: number; scale: number }

export interface Limits { least: number; most: number }

/** World coordinates of a place on the canvas, both from the upper left corner, in CSS pixels. */
export function toWorld(camera: Camera, x: number, y: number): { x: number; y: number } {
  return { x: x / camera.scale + camera.x, y: y / camera.scale + camera.y };
}

export function zoomAt(camera: Camera, x: number, y: number, factor: number, limits: Limits): void {
  const scale = Math.min(limits.most, Math.max(limits.least, camera.scale * factor));
  const fixed = toWorld(camera, x, y);
  camera.scale = scale;
  camera.x = fixed.x - x / scale;
  camera.y = fixed.y - y / scale;
}

export interface Handlers {
  changed(): void;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number, event: MouseEvent): void;
  doubleClick(x: number, y: number): void;
}

/** Listens to a canvas: drag moves, wheel scrolls, wheel with Ctrl and pinching zoom. A press that moves is no click. */
export function listen(canvas: HTMLCanvasElement, camera: Camera, limits: Limits, handlers: Handlers): void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = false;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) moved = false;
    pointers.set(event.pointerId, place(event));
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const last = pointers.get(event.pointerId);
    if (last === undefined) {
      handlers.hover(now.x, now.y);
      return;
    }
    if (!moved && pointers.size === 1 && Math.hypot(now.x - last.x, now.y - last.y) < 4) return;
    moved = true;
    canvas.classList.add("moving");
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const after = Math.hypot(now.x - other.x, now.y - other.y);
      if (before > 0) zoomAt(camera, (now.x + other.x) / 2, (now.y + other.y) / 2, after / before, limits);
    } else {
      camera.x -= (now.x - last.x) / camera.scale;
      camera.y -= (now.y - last.y) / camera.scale;
    }
    pointers.set(event.pointerId, now);
    handlers.changed();
  });
  const end = (event: PointerEvent): void => {
    pointers.delete(event.pointerId);
    canvas.classList.remove("moving");
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => handlers.leave());
  canvas.addEventListener("click", (event) => {
    const { x, y } = place(event);
    if (!moved) handlers.click(x, y, event);
  });
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    handlers.doubleClick(x, y);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const { x, y } = place(event);
    if (event.ctrlKey || event.metaKey) zoomAt(camera, x, y, Math.exp(-event.deltaY * unit * 0.004), limits);
    else {
      camera.x += ((event.shiftKey ? event.deltaY : event.deltaX) * unit) / camera.scale;
      camera.y += ((event.shiftKey ? 0 : event.deltaY) * unit) / camera.scale;
    }
    handlers.changed();
  }, { passive: false });
}
