// What the server knows about one resource, as data and a few pure functions.
import type { ApiObject } from '../api-object.ts';
import type { FieldError } from '../field-error.ts';
import type { JsonObject } from '../json.ts';
import type { NameRule } from '../names.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { SelectableFields } from '../store/selector.ts';
import type { Cluster } from './cluster.ts';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  /** The column that holds the object's name. */
  readonly format?: 'name';
  /** Shown with `-o wide` only. */
  readonly wide?: true;
}

export type Cell = string | number | boolean;

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';
export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** A claim on shared things (addresses, ports) that a write needs. `settle` takes them and gives back the old ones. */
export type Reservation<T> =
  | { readonly ok: true; readonly object: T; settle(): void }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** One resource; `T` is its object after decoding by the schema. */
export interface Definition<T extends ApiObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly schema: ObjectSchema;
  readonly columns: readonly Column[];
  cells(object: T, now: number): readonly Cell[];
  /** Field selectors beside metadata.name and metadata.namespace. */
  readonly selectable: SelectableFields;
  readonly nameRule: NameRule;
  /** `status` is a subresource: the main path does not change it, and it changes nothing else. */
  readonly hasStatus: boolean;
  /** metadata.generation counts the changes of what is neither metadata nor status. */
  readonly hasGeneration: boolean;
  /** PUT makes the object when it is not there. */
  readonly createOnUpdate: boolean;
  /** PUT needs no resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** A deletion answers with the object rather than a Status. */
  readonly returnsDeleted: boolean;
  /** The fields beside metadata of an object with nothing in it, as bookmarks show it. */
  readonly blank: JsonObject;
  /** What every answer about the resource warns of. */
  readonly warning: string | undefined;
  /** Fills in what the client left out. Comes right after decoding, before anything else sees the object. */
  defaults(object: T): T;
  /** What a new object starts with, such as its status. */
  prepareCreate(object: T): T;
  /** Settles fields that belong together, before the claims. */
  prepareUpdate(next: T, before: T): T;
  reserve(next: T, before: T | undefined, cluster: Cluster): Reservation<T>;
  /** Gives back what a deleted object had claimed. */
  release(last: T, cluster: Cluster): void;
  /** Everything that is wrong with the object; `before` is there for an update. */
  validate(next: T, before: T | undefined): readonly FieldError[];
  /** For how many seconds the object stays after a deletion; 0 removes it at once. */
  graceSeconds(object: T, asked: number | undefined): number;
  /** The resource whose objects this one shows in other words. */
  readonly view: View | undefined;
}

/** Another form of a resource's objects: events.k8s.io shows the Events of the core group. */
export interface View {
  readonly of: string;
  toStored(object: ApiObject): ApiObject;
  fromStored(object: ApiObject): ApiObject;
}

/** A resource whose object type is not known where it is used. */
export type Resource = Definition<ApiObject>;

type Needed =
  | 'version'
  | 'kind'
  | 'plural'
  | 'singular'
  | 'namespaced'
  | 'schema'
  | 'nameRule'
  | 'columns'
  | 'cells';

/** Completes a definition with what most resources have in common. */
export function defineResource<T extends ApiObject>(
  definition: Pick<Definition<T>, Needed> & Partial<Definition<T>>,
): Resource {
  const whole: Definition<T> = {
    group: '',
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    selectable: {},
    hasStatus: false,
    hasGeneration: false,
    createOnUpdate: false,
    unconditionalUpdate: true,
    returnsDeleted: false,
    blank: {},
    warning: undefined,
    defaults: (object) => object,
    prepareCreate: (object) => object,
    prepareUpdate: (next) => next,
    reserve: (object) => ({ ok: true, object, settle: () => undefined }),
    release: () => undefined,
    validate: () => [],
    graceSeconds: () => 0,
    view: undefined,
    ...definition,
  };
  // The registry hands a resource only objects that its own schema has decoded.
  return whole as unknown as Resource;
}

export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

export const NAME_COLUMN: Column = { name: 'Name', type: 'string', format: 'name' };
export const AGE_COLUMN: Column = { name: 'Age', type: 'string' };

export function column(name: string, options: { readonly wide?: true } = {}): Column {
  return { name, type: 'string', ...options };
}
