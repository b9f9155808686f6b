// Particles of a frame, turned with the pointer, on a plain canvas.
function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; ++k) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

class FrameView {
  constructor(canvas, view) {
    this.canvas = canvas;
    const words = new Uint16Array(bytesOf(view.position).buffer);
    this.type = bytesOf(view.type);
    this.molecule = view.molecule && bytesOf(view.molecule);  // a colour; 255: no molecule
    this.byMolecule = false;
    this.bonds = view.bonds;
    this.edges = view.edges;
    this.n = this.type.length;
    this.flat = view.dimension === 2;
    this.at = new Float32Array(3 * this.n);  // from the middle of the box
    for (let k = 0; k < this.n; ++k)
      for (let i = 0; i < 3; ++i) {
        let sum = 0;
        for (let j = 0; j < 3; ++j) sum += (words[3 * k + j] / 65535 - 0.5) * view.edges[j][i];
        this.at[3 * k + i] = this.flat && i === 2 ? 0 : sum;
      }
    const lengths = view.edges.slice(0, this.flat ? 2 : 3).map((e) => Math.hypot(...e));
    this.size = Math.hypot(...lengths) / 2;
    this.half = Math.min(...lengths) / 2;
    this.diameter = view.diameter;
    this.hidden = new Set();
    this.scale = 1;
    this.reset();
    this.listen();
  }
  reset() {
    this.zoom = 1;
    this.turned = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    if (!this.flat) {
      this.turn(0.6, 1);
      this.turn(0.35, 0);
    }
  }
  /** About the screen's x (axis 0) or y (1). */
  turn(angle, axis) {
    const c = Math.cos(angle), s = Math.sin(angle), [x, y, z] = this.turned;
    const mix = (a, b, p, q) => a.map((v, k) => p * v + q * b[k]);
    this.turned = axis === 0 ? [x, mix(y, z, c, -s), mix(z, y, c, s)]
                             : [mix(x, z, c, s), y, mix(z, x, c, -s)];
  }
  listen() {
    let last = null;
    this.canvas.addEventListener("pointerdown", (e) => {
      last = [e.clientX, e.clientY];
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointerup", () => { last = null; });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!last) return;
      this.turn((e.clientX - last[0]) * 0.008, 1);
      this.turn((e.clientY - last[1]) * 0.008, 0);
      last = [e.clientX, e.clientY];
      this.later();
    });
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom *= Math.exp(-e.deltaY * 0.001);
      this.later();
    }, {passive: false});
    window.addEventListener("resize", () => this.later());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
                                                                       () => this.later());
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
  /** Place on the canvas of a point, its depth from -1 to 1, and how large a length is there. */
  project(x, y, z) {
    const [a, b, c] = this.turned, far = 4 * this.size;
    const depth = c[0] * x + c[1] * y + c[2] * z;
    const scale = this.unit * far / (far - depth);
    return [this.w / 2 + scale * (a[0] * x + a[1] * y + a[2] * z),
            this.h / 2 - scale * (b[0] * x + b[1] * y + b[2] * z), depth / this.size, scale];
  }
  prepare() {
    const ratio = window.devicePixelRatio || 1;
    this.w = this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    this.h = this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    this.unit = 0.46 * Math.min(this.w, this.h) / this.size * this.zoom * (this.flat ? 1.2 : 1);
    this.style = getComputedStyle(document.documentElement);
  }
  colorOf(k) {
    const by = this.byMolecule ? this.molecule[k] : this.type[k];
    return by === 255 ? colors - 1 : by % colors;
  }
  color(k) { return this.style.getPropertyValue(`--c${k % colors}`).trim(); }
  draw() {
    this.prepare();
    const g = this.canvas.getContext("2d");
    g.clearRect(0, 0, this.w, this.h);
    this.drawBox(g);
    const place = new Float32Array(4 * this.n), buckets = 512, count = new Uint32Array(buckets + 1);
    const bucket = new Uint16Array(this.n), order = new Uint32Array(this.n);
    for (let k = 0; k < this.n; ++k) {
      place.set(this.project(this.at[3 * k], this.at[3 * k + 1], this.at[3 * k + 2]), 4 * k);
      bucket[k] = Math.max(0, Math.min(buckets - 1,
                                       Math.floor((place[4 * k + 2] + 1) / 2 * buckets)));
      ++count[bucket[k] + 1];
    }
    for (let b = 0; b < buckets; ++b) count[b + 1] += count[b];
    for (let k = 0; k < this.n; ++k) order[count[bucket[k]]++] = k;
    this.drawBonds(g, place);
    const sprites = this.sprites();
    for (const k of order) {
      if (this.hidden.has(this.type[k])) continue;
      const d = Math.max(1.5, this.diameter * this.scale * place[4 * k + 3]);
      g.globalAlpha = this.flat ? 1 : 0.65 + 0.35 * Math.max(0, Math.min(1, place[4 * k + 2]));
      g.drawImage(sprites[this.colorOf(k)], place[4 * k] - d / 2, place[4 * k + 1] - d / 2, d, d);
    }
    g.globalAlpha = 1;
  }
  sprites() {
    const list = [];
    for (let k = 0; k < colors; ++k) {
      const c = document.createElement("canvas");
      c.width = c.height = 64;
      const g = c.getContext("2d"), shade = g.createRadialGradient(24, 22, 2, 32, 32, 32);
      shade.addColorStop(0, "rgba(255,255,255,0.75)");
      shade.addColorStop(0.45, "rgba(255,255,255,0)");
      shade.addColorStop(1, "rgba(0,0,0,0.5)");
      g.beginPath();
      g.arc(32, 32, 31, 0, 2 * Math.PI);
      g.fillStyle = this.color(k);
      g.fill();
      g.fillStyle = shade;
      g.fill();
      list.push(c);
    }
    return list;
  }
  drawBox(g) {
    g.strokeStyle = this.style.getPropertyValue("--faint");
    g.lineWidth = 1;
    const corner = (i, j, k) => {
      const e = this.edges, p = [0, 1, 2].map((c) =>
          (i - 0.5) * e[0][c] + (j - 0.5) * e[1][c] + (this.flat ? 0 : (k - 0.5) * e[2][c]));
      return this.project(...p);
    };
    g.beginPath();
    for (let a = 0; a < 8; ++a)
      for (const bit of [1, 2, 4]) {
        if (a & bit) continue;
        const p = corner(a & 1, a >> 1 & 1, a >> 2), b = a | bit;
        const q = corner(b & 1, b >> 1 & 1, b >> 2);
        g.moveTo(p[0], p[1]);
        g.lineTo(q[0], q[1]);
      }
    g.stroke();
  }
  /** Those that cross a face are left out. */
  drawBonds(g, place) {
    g.strokeStyle = this.style.getPropertyValue("--faint");
    g.lineWidth = Math.max(1, 0.15 * this.diameter * this.unit);
    g.beginPath();
    for (let k = 0; k < this.bonds.length; k += 2) {
      const a = this.bonds[k], b = this.bonds[k + 1];
      if (this.hidden.has(this.type[a]) || this.hidden.has(this.type[b])) continue;
      const d = Math.hypot(this.at[3 * a] - this.at[3 * b], this.at[3 * a + 1] - this.at[3 * b + 1],
                           this.at[3 * a + 2] - this.at[3 * b + 2]);
      if (d > this.half) continue;
      g.moveTo(place[4 * a], place[4 * a + 1]);
      g.lineTo(place[4 * b], place[4 * b + 1]);
    }
    g.stroke();
  }
}
