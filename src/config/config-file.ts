// The text of a configuration file, YAML or JSON, read and written (behaviour spec 1.3, decoding).
import { PointsmanError } from '../base/errors.ts';
import {
  API_VERSION,
  type Configuration,
  configurationDocument,
  KIND,
  readConfiguration,
} from './configuration.ts';
import { isRecord } from './fields.ts';

export interface ConfigFile {
  readonly configuration: Configuration;
  /** Why strict decoding fails, if it does: unknown and duplicate fields, which are passed over. */
  readonly lenient: string | undefined;
}

/** Throws E_CONFIG with all fields that cannot be read. */
export async function parseConfigFile(text: string): Promise<ConfigFile> {
  const { value, duplicates } = await parseYaml(text);
  if (!isRecord(value)) throw undecodable('the file holds no object with apiVersion and kind');
  checkKind(value);
  const { configuration, wrong, unknown } = readConfiguration(value);
  if (wrong.length > 0) throw undecodable(wrong.map(({ path, because }) => `${path}: ${because}`).join('; '));
  const complaints = [...duplicates, ...unknown.map(({ because }) => because)];
  return { configuration, lenient: complaints.length === 0 ? undefined : complaints.join(', ') };
}

/** A file that says the same, every field with its value. */
export async function configFileText(configuration: Configuration): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(configurationDocument(configuration), { aliasDuplicateObjects: false });
}

function undecodable(because: string, cause?: unknown): PointsmanError {
  return new PointsmanError('E_CONFIG', `failed to decode: ${because}`, {
    hint: `the file is to be a ${KIND} of ${API_VERSION}`,
    cause,
  });
}

async function parseYaml(
  text: string,
): Promise<{ readonly value: unknown; readonly duplicates: readonly string[] }> {
  // Rarely needed, and large.
  const { parseDocument } = await import('yaml');
  const strict = parseDocument(text, { uniqueKeys: true, logLevel: 'silent' });
  const duplicates = strict.errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  const [broken] = strict.errors.filter(({ code }) => code !== 'DUPLICATE_KEY');
  if (broken !== undefined) throw undecodable(broken.message.split('\n')[0] ?? '', broken);
  if (duplicates.length === 0) return { value: strict.toJS(), duplicates: [] };
  return {
    value: parseDocument(text, { uniqueKeys: false, logLevel: 'silent' }).toJS(),
    duplicates: duplicates.map(({ linePos }) => `duplicate key at line ${linePos?.[0].line ?? '?'}`),
  };
}

function checkKind(document: Readonly<Record<string, unknown>>): void {
  const { apiVersion, kind } = document;
  if (typeof kind !== 'string' || kind === '') throw undecodable("Object 'Kind' is missing");
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw undecodable("Object 'apiVersion' is missing");
  if (kind !== KIND || apiVersion !== API_VERSION)
    throw undecodable(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
}
