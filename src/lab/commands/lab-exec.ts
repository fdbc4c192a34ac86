// `pointsman lab exec` and `pointsman lab kubectl`: real commands in the lab.
import { PointsmanError } from '../../base/errors.ts';
import { listNamespaces } from '../network/construction.ts';
import { namespaceName, namespacesOf } from '../network/names.ts';
import { type LabChoice, type LabIo, runAttached } from './io.ts';
import { KUBECTL, kubectlEnvironment } from './kubectl.ts';
import { labOf } from './lab-of.ts';

export interface LabExecOptions extends LabChoice {
  /** A node, a Pod (`namespace/name`, or its name alone when only one is called so), `outside` or `switch`. */
  readonly part: string;
  readonly command: readonly string[];
}

/** Runs a command of the machine inside a namespace of the lab, and resolves with its exit code. */
export async function labExec(options: LabExecOptions, io: LabIo): Promise<number> {
  const { name } = labOf(options);
  const { part, command } = options;
  if (command.length === 0)
    throw new PointsmanError('E_USAGE', `no command to run in ${part}`, { hint: 'put it after --' });
  const namespace = findNamespace(name, part, namespacesOf(name, listNamespaces()));
  return runAttached(['ip', 'netns', 'exec', namespace, ...command], process.env, io);
}

/**
 * The namespace that is meant by `part` among those of the lab. Throws E_LAB with what there is when there is none, or
 * more than one.
 */
export function findNamespace(lab: string, part: string, namespaces: readonly string[]): string {
  const known = new Set(namespaces);
  for (const candidate of [part, `default/${part}`]) {
    const namespace = namespaceName(lab, candidate);
    if (known.has(namespace) && (candidate === part || !part.includes('/'))) return namespace;
  }
  const called = part.includes('/') ? [] : namespaces.filter((namespace) => namespace.endsWith(`_${part}`));
  const [only] = called;
  if (only !== undefined && called.length === 1) return only;
  const parts = (called.length > 1 ? called : namespaces).map((namespace) =>
    namespace.slice(lab.length + 1).replace('_', '/'),
  );
  throw new PointsmanError(
    'E_LAB',
    called.length > 1 ? `several Pods of the lab are called ${part}` : `the lab has nothing called ${part}`,
    { hint: `there are ${parts.slice(0, 12).join(', ')}${parts.length > 12 ? ', …' : ''}` },
  );
}

export interface LabKubectlOptions extends LabChoice {
  readonly args: readonly string[];
}

/** Runs the stock kubectl against the lab, and resolves with its exit code. */
export function labKubectl(options: LabKubectlOptions, io: LabIo): Promise<number> {
  const { state } = labOf(options);
  const [program = 'sh', ...first] = KUBECTL;
  return runAttached([program, ...first, ...options.args], kubectlEnvironment(state.kubeconfig), io);
}
