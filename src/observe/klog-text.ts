// klog's text format: `I0102 15:04:05.000000   pid file.go:line] "Message" key="value"`.

export type KlogSeverity = 'info' | 'warning' | 'error';

export interface KlogEvent {
  readonly severity: KlogSeverity;
  readonly at: Date;
  readonly pid: number;
  /** What stands where klog names the file. */
  readonly room: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One line with its newline, in local time as klog's. Line breaks in values are escaped. */
export function klogLine({ severity, at, pid, room, message, fields }: KlogEvent): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const micros = `${String(at.getMilliseconds()).padStart(3, '0')}000`;
  const head = `${severity[0]?.toUpperCase()}${date} ${time}.${micros} ${String(pid).padStart(7)} ${room}]`;
  let line = `${head} ${JSON.stringify(message)}`;
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) line += ` ${key}=${valueText(value)}`;
  }
  return `${line}\n`;
}

/** Numbers and booleans stand bare, texts in quotes, the rest as JSON. */
function valueText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (value instanceof Error) return JSON.stringify(value.message);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // A circle, or a number that JSON does not have.
    return JSON.stringify(String(value));
  }
}
