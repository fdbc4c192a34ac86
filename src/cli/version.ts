// What this program is.
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of the package. */
export function ownVersion(): string {
  const path = findPackageJSON('.', import.meta.url);
  const manifest: unknown = path === undefined ? undefined : JSON.parse(readFileSync(path, 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest && manifest.version;
  return typeof version === 'string' ? version : 'unknown';
}

/** One line, or all there is to tell as JSON. */
export function versionText(version: string, raw: boolean): string {
  if (!raw) return `Pointsman v${version}\n`;
  const { node, v8 } = process.versions;
  return `${JSON.stringify({ version: `v${version}`, node, v8, platform: `${process.platform}/${process.arch}` })}\n`;
}
