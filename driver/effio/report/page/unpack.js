// SPDX-License-Identifier: BSD-3-Clause
// Library and data come compressed, and only where there is something to draw. The library's checksum is in the
// page's policy, so that nothing else could take its place.

function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
  if (typeof DecompressionStream === "undefined") return Promise.resolve(new TextDecoder().decode(inflated(bytes)));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Decompresses gzip data (RFC 1951 and 1952) in browsers without DecompressionStream (before 2023). */
function inflated(bytes) {
  const out = new Uint8Array(new DataView(bytes.buffer).getUint32(bytes.length - 4, true));
  let to = 0, at = 10, hold = 0, held = 0, last = 0;  // the header has ten bytes and no optional fields
  const bits = (count) => {
    for (; held < count; held += 8) hold |= bytes[at++] << held;
    const value = hold & ((1 << count) - 1);
    hold >>>= count;
    held -= count;
    return value;
  };
  const codeOf = (lengths) => {
    const counts = new Array(16).fill(0), symbols = [], next = [0, 0];
    for (const length of lengths) if (length) counts[length] += 1;
    for (let i = 1; i < 15; i += 1) next[i + 1] = next[i] + counts[i];
    lengths.forEach((length, symbol) => { if (length) symbols[next[length]++] = symbol; });
    return { counts, symbols };
  };
  const symbolOf = ({ counts, symbols }) => {
    for (let length = 1, code = 0, first = 0, index = 0; length < 16; length += 1) {
      code |= bits(1);
      if (code - first < counts[length]) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("not gzip");
  };
  const steps = (start, group, count) => {  // base and extra bits of lengths and distances
    const found = [];
    for (let i = 0, base = start; i < count; i += 1) {
      const more = Math.max(0, Math.floor(i / group) - 1);
      found.push([base, more]);
      base += 1 << more;
    }
    return found;
  };
  const lengthSteps = [...steps(3, 4, 28), [258, 0]], distanceSteps = steps(1, 2, 30);
  const fixed = () => [...new Array(144).fill(8), ...new Array(112).fill(9), ...new Array(24).fill(7), ...new Array(8).fill(8)];
  const dynamic = () => {
    const sizes = [bits(5) + 257, bits(5) + 1], some = new Array(19).fill(0), lengths = [];
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    for (let i = 0, count = bits(4) + 4; i < count; i += 1) some[order[i]] = bits(3);
    const code = codeOf(some);
    while (lengths.length < sizes[0] + sizes[1]) {
      const symbol = symbolOf(code);
      if (symbol < 16) { lengths.push(symbol); continue; }
      const value = symbol === 16 ? lengths.at(-1) : 0;
      for (let i = symbol === 16 ? bits(2) + 3 : symbol === 17 ? bits(3) + 3 : bits(7) + 11; i > 0; i -= 1) lengths.push(value);
    }
    return [lengths.slice(0, sizes[0]), lengths.slice(sizes[0])];
  };
  while (!last) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      hold = held = 0;
      const count = bytes[at] | (bytes[at + 1] << 8);
      out.set(bytes.subarray(at + 4, at + 4 + count), to);
      at += 4 + count;
      to += count;
      continue;
    }
    const [literals, distances] = (kind === 1 ? [fixed(), new Array(30).fill(5)] : dynamic()).map(codeOf);
    for (let symbol = symbolOf(literals); symbol !== 256; symbol = symbolOf(literals)) {
      if (symbol < 256) { out[to++] = symbol; continue; }
      const [base, more] = lengthSteps[symbol - 257];
      const length = base + bits(more), [far, further] = distanceSteps[symbolOf(distances)];
      const from = to - far - bits(further);
      for (let i = 0; i < length; i += 1) out[to++] = out[from + i];
    }
  }
  return out;
}
