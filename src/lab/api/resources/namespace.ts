// Namespaces. What empties a terminating one is registry/namespaces.ts.
import type { ApiObject } from '../api-object.ts';
import type { JsonObject } from '../json.ts';
import { withFields } from '../json.ts';
import { dnsLabel } from '../names.ts';
import { resourceSchema } from '../schema/meta.ts';
import { keyed, object, set, text, textKept, time } from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, ALL_VERBS, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

const CORE = 'io.k8s.api.core.v1';

interface Namespace extends ApiObject {
  readonly spec: JsonObject & { readonly finalizers?: readonly string[] };
  readonly status: JsonObject & { readonly phase?: string };
}

const NAME_LABEL = 'kubernetes.io/metadata.name';

export const NAMESPACES: Resource = defineResource<Namespace>({
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
  nameRule: dnsLabel,
  hasStatus: true,
  blank: { spec: {}, status: {} },
  schema: resourceSchema(`${CORE}.Namespace`, {
    spec: object(`${CORE}.NamespaceSpec`, { finalizers: set(text) }),
    status: object(`${CORE}.NamespaceStatus`, {
      phase: text,
      conditions: keyed(
        object(`${CORE}.NamespaceCondition`, {
          type: textKept,
          status: textKept,
          lastTransitionTime: time,
          reason: text,
          message: text,
        }),
        'type',
      ),
    }),
  }),
  columns: [NAME_COLUMN, column('Status'), AGE_COLUMN],
  cells: (namespace, now) => [
    namespace.metadata.name ?? '',
    namespace.status?.phase ?? '',
    ageOf(namespace.metadata.creationTimestamp, now),
  ],
  selectable: {
    'status.phase': (namespace) => String((namespace.status as JsonObject | undefined)?.phase ?? ''),
  },
  defaults(namespace) {
    const name = namespace.metadata.name;
    if (name === undefined) return namespace;
    const labels = { ...namespace.metadata.labels, [NAME_LABEL]: name };
    return { ...namespace, metadata: { ...namespace.metadata, labels } };
  },
  prepareCreate: (namespace) => ({
    ...namespace,
    // The kubernetes finalizer is what keeps a namespace until it is empty.
    spec: {
      ...namespace.spec,
      finalizers: ['kubernetes', ...(namespace.spec?.finalizers ?? [])].filter(unique),
    },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (next, before) => withFields(next, { spec: before.spec, status: before.status }),
});

function unique(word: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(word) === at;
}
