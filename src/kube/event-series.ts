// Events as the API wants them (events.k8s.io/v1), and the books of those that repeat. Pure but for its own books.

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface EventNote {
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** A word for machines: `FailedToStartServiceHealthcheck`. At most 128 characters. */
  readonly reason: string;
  /** What was done or tried: `StartKubeProxy`. At most 128 characters. */
  readonly action: string;
  /** For people; cut at 1024 bytes, as the API demands. */
  readonly note?: string;
}

/** Limits of the API (validation of events.k8s.io/v1). */
const NOTE_BYTES = 1024;
const WORD_LENGTH = 128;

export interface EventSource {
  readonly reportingController: string;
  readonly reportingInstance: string;
}

/** The namespace an event is kept in: that of its object, `default` for objects without one. */
export function eventNamespace({ regarding }: EventNote): string {
  return regarding.namespace || 'default';
}

/** What makes two events the same one repeated: all but their note, as in upstream's recorder. */
export function seriesKey({ regarding, related, type, reason, action }: EventNote): string {
  return JSON.stringify([regarding, related ?? null, type, reason, action]);
}

/** The object to create. `time` is in milliseconds since the epoch. */
export function eventObject(
  note: EventNote,
  name: string,
  time: number,
  { reportingController, reportingInstance }: EventSource,
): Record<string, unknown> {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: eventNamespace(note) },
    eventTime: microTime(time),
    type: note.type,
    reason: note.reason.slice(0, WORD_LENGTH),
    action: note.action.slice(0, WORD_LENGTH),
    note: cutToBytes(note.note ?? '', NOTE_BYTES),
    regarding: note.regarding,
    ...(note.related === undefined ? {} : { related: note.related }),
    reportingController,
    reportingInstance: reportingInstance.slice(0, WORD_LENGTH),
  };
}

/** The patch that says how often an event came. The API wants series to count from 2. */
export function seriesPatch(count: number, lastTime: number): Record<string, unknown> {
  return { series: { count: Math.max(2, count), lastObservedTime: microTime(lastTime) } };
}

/** A name that no other event has: the object's, and the time in nanoseconds as upstream writes it. */
export function eventName({ regarding }: EventNote, time: number, serial: number): string {
  const nanoseconds = BigInt(Math.trunc(time)) * 1_000_000n + BigInt(serial % 1_000_000);
  const suffix = `.${nanoseconds.toString(16)}`;
  return `${regarding.name.slice(0, 253 - suffix.length)}${suffix}`;
}

/** metav1.MicroTime: RFC 3339 with microseconds. */
export function microTime(time: number): string {
  return new Date(time).toISOString().replace('Z', '000Z');
}

function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  // Half a character at the cut becomes a replacement character, which goes too.
  const cut = bytes
    .subarray(0, limit - 3)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${cut}...`;
}
