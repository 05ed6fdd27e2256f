// Decodes vector tiles with the library that MapLibre uses, and checks their geometry. Input: for each tile its length (32 bits, big-endian)
// and its bytes. Output: for each tile a line of JSON, with the features and vertices of each layer, and what is wrong.
// Arguments: the folder node_modules, and how far from 0 and 4096 a tile may reach.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, buffer] = process.argv.slice(2);
const from = (name) => import(pathToFileURL(`${modules}/${name}/index.js`).href);
const [{ VectorTile }, pbf] = await Promise.all([from("@mapbox/vector-tile"), from("pbf")]);
const Reader = pbf.PbfReader ?? pbf.default;

const doubleArea = (ring) => ring.reduce((sum, a, i) => sum + a.x * ring[(i + 1) % ring.length].y - ring[(i + 1) % ring.length].x * a.y, 0);
const input = readFileSync(0);
const out = [];
for (let at = 0; at < input.length; ) {
  const length = input.readUInt32BE(at);
  const layers = {};
  const wrong = [];
  const { layers: read } = new VectorTile(new Reader(input.subarray(at + 4, at + 4 + length)));
  at += 4 + length;
  for (const [name, layer] of Object.entries(read)) {
    if (layer.extent !== 4096 || layer.version !== 2) wrong.push(`${name}: extent ${layer.extent}, version ${layer.version}`);
    const count = (layers[name] = { features: layer.length, vertices: 0, areas: 0 });
    for (let i = 0; i < layer.length; i++) {
      const feature = layer.feature(i);
      const parts = feature.loadGeometry();
      const say = (text) => wrong.push(`${name} ${i} ${JSON.stringify(feature.properties)}: ${text}`);
      if (parts.length === 0) say("no geometry");
      parts.forEach((part, n) => {
        count.vertices += part.length;
        const rim = feature.type === 1 ? 0 : Number(buffer);
        if (part.some(({ x, y }) => Math.min(x, y) < -rim || Math.max(x, y) > 4096 + rim)) say("outside of the tile");
        if (feature.type === 2 && part.length < 2) say("a line of one point");
        if (feature.type !== 3) return;
        const last = part[part.length - 1];
        if (part.length < 4 || part[0].x !== last.x || part[0].y !== last.y) say("a ring that is not closed");
        const area = doubleArea(part);
        if (area === 0 || (n === 0 && area < 0)) say(`a ring with an area of ${area}`);
        if (area > 0) count.areas++;
      });
      for (const value of Object.values(feature.properties)) if (value === "" || /[\u0000-\u001f]/.test(String(value))) say("a text that is empty or has control characters");
    }
  }
  out.push(JSON.stringify({ layers, wrong }));
}
process.stdout.write(out.join("\n"));
