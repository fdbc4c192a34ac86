// The query parameters of the API.

import { isObject, type JsonValue } from '../json.ts';
import type { FieldValidation } from '../registry/accept.ts';
import type { WriteOptions } from '../registry/context.ts';
import type { ListOptions, Selection } from '../registry/read.ts';
import type { DeleteOptions } from '../registry/remove.ts';
import { badRequest, type Failed } from '../status.ts';
import type { IncludeObject } from './encode.ts';
import type { ApiRequest } from './request.ts';

export const isTrue = (text: string | null): boolean => text === 'true' || text === '1';

/** A whole number of at least 0; undefined when there is none or it is none. */
export function count(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

export function selectionOf(query: URLSearchParams, namespace: string | undefined): Selection {
  return {
    namespace,
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: query.get('fieldSelector') ?? undefined,
  };
}

export function listOptions(query: URLSearchParams, namespace: string | undefined): ListOptions | Failed {
  const match = query.get('resourceVersionMatch');
  if (match !== null && match !== '' && match !== 'Exact' && match !== 'NotOlderThan')
    return badRequest(
      `resourceVersionMatch: Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`,
    );
  const limit = count(query.get('limit'));
  return {
    ...selectionOf(query, namespace),
    ...(limit === undefined ? {} : { limit }),
    ...(query.get('continue') ? { continue: query.get('continue') ?? '' } : {}),
    ...(query.get('resourceVersion') ? { resourceVersion: query.get('resourceVersion') ?? '' } : {}),
    ...(match ? { resourceVersionMatch: match as 'Exact' | 'NotOlderThan' } : {}),
  };
}

/** How the request names itself in managedFields: by a parameter, else by the head of its user agent. */
export function managerOf(request: ApiRequest): string {
  const named = request.query.get('fieldManager');
  if (named) return named;
  return request.header('user-agent')?.split('/')[0]?.trim() || 'unknown';
}

export function writeOptions(request: ApiRequest): WriteOptions | Failed {
  const { query } = request;
  const dryRun = query.get('dryRun');
  if (dryRun && dryRun !== 'All')
    return badRequest(`dryRun: Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`);
  const validation = query.get('fieldValidation') || 'Warn';
  if (validation !== 'Strict' && validation !== 'Warn' && validation !== 'Ignore')
    return badRequest(
      `fieldValidation: Unsupported value: ${JSON.stringify(validation)}: supported values: "Ignore", "Strict", "Warn"`,
    );
  return {
    dryRun: dryRun === 'All',
    manager: managerOf(request),
    validation: validation satisfies FieldValidation,
  };
}

const PROPAGATIONS = ['Background', 'Foreground', 'Orphan'] as const;

/** From the query, or from a DeleteOptions body, which goes first. */
export function deleteOptions(query: URLSearchParams, body: JsonValue | undefined): DeleteOptions {
  const given = isObject(body) ? body : {};
  const conditions = isObject(given.preconditions) ? given.preconditions : {};
  const seconds =
    typeof given.gracePeriodSeconds === 'number'
      ? given.gracePeriodSeconds
      : count(query.get('gracePeriodSeconds'));
  const asked = given.propagationPolicy ?? query.get('propagationPolicy');
  const orphans = given.orphanDependents === true || isTrue(query.get('orphanDependents'));
  const propagation = orphans ? 'Orphan' : PROPAGATIONS.find((word) => word === asked);
  const dryRun =
    query.get('dryRun') === 'All' || (Array.isArray(given.dryRun) && given.dryRun.includes('All'));
  return {
    dryRun,
    ...(seconds === undefined ? {} : { gracePeriodSeconds: Math.max(0, seconds) }),
    ...(propagation === undefined ? {} : { propagation }),
    ...(typeof conditions.uid === 'string' ? { uid: conditions.uid } : {}),
    ...(typeof conditions.resourceVersion === 'string'
      ? { resourceVersion: conditions.resourceVersion }
      : {}),
  };
}

export function includeObject(query: URLSearchParams): IncludeObject {
  const asked = query.get('includeObject');
  return asked === 'None' || asked === 'Object' ? asked : 'Metadata';
}
