// One kubeconfig file: YAML or JSON to checked entries (v1 Config of client-go's clientcmd; unknown fields are ignored).
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { PointsmanError } from '../base/errors.ts';
import { fieldError, type Placed } from './kubeconfig-field.ts';

/** A file may leave a field out or write `null`. */
type Maybe<T> = T | null | undefined;

export interface ClusterEntry {
  readonly server: string;
  readonly 'tls-server-name'?: Maybe<string>;
  readonly 'insecure-skip-tls-verify'?: Maybe<boolean>;
  readonly 'certificate-authority'?: Maybe<string>;
  readonly 'certificate-authority-data'?: Maybe<string>;
  readonly 'proxy-url'?: Maybe<string>;
  readonly 'disable-compression'?: Maybe<boolean>;
  readonly extensions?: Maybe<readonly { readonly name: string; readonly extension?: unknown }[]>;
}

export interface ExecEntry {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  readonly command: string;
  readonly args?: Maybe<readonly string[]>;
  readonly env?: Maybe<readonly { readonly name: string; readonly value?: Maybe<string> }[]>;
  readonly installHint?: Maybe<string>;
  readonly provideClusterInfo?: Maybe<boolean>;
  readonly interactiveMode?: Maybe<'Never' | 'IfAvailable' | 'Always'>;
}

export interface UserEntry {
  readonly 'client-certificate'?: Maybe<string>;
  readonly 'client-certificate-data'?: Maybe<string>;
  readonly 'client-key'?: Maybe<string>;
  readonly 'client-key-data'?: Maybe<string>;
  readonly token?: Maybe<string>;
  readonly tokenFile?: Maybe<string>;
  readonly username?: Maybe<string>;
  readonly password?: Maybe<string>;
  readonly as?: Maybe<string>;
  readonly 'as-uid'?: Maybe<string>;
  readonly 'as-groups'?: Maybe<readonly string[]>;
  readonly 'as-user-extra'?: Maybe<Readonly<Record<string, readonly string[]>>>;
  readonly 'auth-provider'?: unknown;
  readonly exec?: Maybe<ExecEntry>;
}

export interface ContextEntry {
  readonly cluster: string;
  readonly user?: Maybe<string>;
}

export interface KubeconfigFile {
  readonly file: string;
  readonly currentContext?: string;
  readonly clusters: ReadonlyMap<string, Placed<ClusterEntry>>;
  readonly users: ReadonlyMap<string, Placed<UserEntry>>;
  readonly contexts: ReadonlyMap<string, Placed<ContextEntry>>;
}

const QUOTED = 'must be text (put it in quotes)';
const NAME = 'must be a name';
const text = v.nullish(v.string(QUOTED));
const flag = v.nullish(v.boolean('must be true or false'));
const path = v.nullish(v.string('must be the path of a file'));
const data = v.nullish(v.string('must be base64 text'));
const texts = v.nullish(v.array(v.string(QUOTED), 'must be a list of texts'));
const VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;
const MODES = ['Never', 'IfAvailable', 'Always'] as const;

/** To valibot a list is an object too. */
const noList = (message: string) =>
  v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), message);

const Cluster = v.looseObject(
  {
    server: v.string('must be a URL such as "https://192.0.2.10:6443"'),
    'tls-server-name': text,
    'insecure-skip-tls-verify': flag,
    'certificate-authority': path,
    'certificate-authority-data': data,
    'proxy-url': text,
    'disable-compression': flag,
    extensions: v.nullish(
      v.array(v.looseObject({ name: v.string(NAME), extension: v.nullish(v.unknown()) }), 'must be a list'),
    ),
  },
  'must hold at least a server',
);

const Exec = v.looseObject({
  apiVersion: v.picklist(VERSIONS, `must be "${VERSIONS.join('" or "')}"`),
  command: v.pipe(v.string('must be a program'), v.nonEmpty('must be a program')),
  args: texts,
  env: v.nullish(
    v.array(
      v.looseObject({ name: v.pipe(v.string(NAME), v.nonEmpty(NAME)), value: text }),
      'must be a list of name and value',
    ),
  ),
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: v.nullish(v.picklist(MODES, 'must be "Never", "IfAvailable" or "Always"')),
});

const User = v.pipe(
  noList('must be a map'),
  v.looseObject(
    {
      'client-certificate': path,
      'client-certificate-data': data,
      'client-key': path,
      'client-key-data': data,
      token: text,
      tokenFile: path,
      username: text,
      password: text,
      as: text,
      'as-uid': text,
      'as-groups': texts,
      'as-user-extra': v.nullish(v.record(v.string(), v.array(v.string(QUOTED)), 'must map names to lists')),
      'auth-provider': v.nullish(v.unknown()),
      exec: v.nullish(Exec),
    },
    'must be a map',
  ),
);

const Context = v.looseObject(
  { cluster: v.string('must be the name of a cluster'), user: text },
  'must hold at least a cluster',
);

const CONFIG = 'must be a kubeconfig: clusters, users, contexts, current-context';
const Config = v.pipe(
  noList(CONFIG),
  v.looseObject(
    {
      kind: v.nullish(v.literal('Config', 'must be "Config"')),
      apiVersion: v.nullish(v.literal('v1', 'must be "v1"')),
      'current-context': text,
      clusters: v.nullish(
        v.array(v.looseObject({ name: v.string(NAME), cluster: Cluster }), 'must be a list'),
      ),
      users: v.nullish(
        v.array(v.looseObject({ name: v.string(NAME), user: v.nullish(User) }), 'must be a list'),
      ),
      contexts: v.nullish(
        v.array(v.looseObject({ name: v.string(NAME), context: Context }), 'must be a list'),
      ),
    },
    CONFIG,
  ),
);

/** Values of these fields never appear in a message. */
const SECRET = /(?:token|password|-data|value|args\[\d+\])$/;

/** Reads one file. Throws E_KUBECONFIG naming file, field, value and what would be right. */
export async function readKubeconfigFile(file: string): Promise<KubeconfigFile> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new PointsmanError(
      'E_KUBECONFIG',
      `kubeconfig ${file}: ${missing ? 'no such file' : cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  }
  return parseKubeconfigFile(content, file);
}

/** What a file with this content says. `file` is for messages and relative paths only. */
export async function parseKubeconfigFile(content: string, file: string): Promise<KubeconfigFile> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line, col } = lines.linePos(broken.pos[0]);
    throw new PointsmanError(
      'E_KUBECONFIG',
      `kubeconfig ${file}: line ${line}, column ${col}: ${broken.message}`,
    );
  }
  const parsed = v.safeParse(Config, document.toJS());
  if (!parsed.success) throw issueError(parsed.issues[0], file);
  const config = parsed.output;

  const placed = <T>(list: string, kind: string, entries: readonly (readonly [string, T])[]) => {
    const found = new Map<string, Placed<T>>();
    for (const [index, [name, entry]] of entries.entries()) {
      // As clientcmd does: the first of two entries with one name counts.
      if (!found.has(name)) found.set(name, { entry, file, field: `${list}[${index}].${kind}` });
    }
    return found;
  };
  const currentContext = config['current-context'];
  return {
    file,
    ...(currentContext ? { currentContext } : {}),
    clusters: placed(
      'clusters',
      'cluster',
      (config.clusters ?? []).map((c) => [c.name, c.cluster] as const),
    ),
    users: placed(
      'users',
      'user',
      (config.users ?? []).map((u) => [u.name, u.user ?? {}] as const),
    ),
    contexts: placed(
      'contexts',
      'context',
      (config.contexts ?? []).map((c) => [c.name, c.context] as const),
    ),
  };
}

function issueError(issue: v.BaseIssue<unknown>, file: string): PointsmanError {
  const field = fieldPath(issue);
  if (field === '') {
    return new PointsmanError(
      'E_KUBECONFIG',
      `kubeconfig ${file}: ${shown(issue.input, '')}: the file ${issue.message}`,
    );
  }
  // An absent key is reported by valibot in its own words, without the message of the key's schema.
  if (issue.input === undefined) {
    const needed = issue.message.startsWith('Invalid key') ? '' : `: ${issue.message}`;
    return fieldError({ file, field }, `is missing${needed}`);
  }
  return fieldError({ file, field }, `is ${shown(issue.input, field)}: ${issue.message}`);
}

function fieldPath(issue: v.BaseIssue<unknown>): string {
  const parts = (issue.path ?? []).map(({ key }) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key)}`,
  );
  return parts.join('').replace(/^\./, '');
}

function shown(value: unknown, field: string): string {
  if (value === null) return 'null';
  if (SECRET.test(field) || field === '') {
    const kind = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : typeof value;
    return `a ${kind === 'string' ? 'text' : kind}`;
  }
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
}
