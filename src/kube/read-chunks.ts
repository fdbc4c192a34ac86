// Reads a response's body with a watchdog: silence longer than allowed ends it.
import type { Readable } from 'node:stream';
import { PointsmanError } from '../base/errors.ts';

/** Facts' code of the error that silence is. */
const SILENT = 'SILENT';

export function isSilence(error: unknown): boolean {
  return error instanceof PointsmanError && error.facts.code === SILENT;
}

/**
 * Hands over each chunk, one after the other, and resolves at the orderly end. While `onChunk` works the clock stands
 * still. Throws E_API_UNREACHABLE if the body breaks off or is silent for longer than `silenceMs` says,
 * E_API_MALFORMED if its compression is broken, and whatever `onChunk` throws. `what` begins the messages.
 */
export async function readChunks(
  body: Readable,
  what: string,
  silenceMs: () => number,
  onChunk: (chunk: Buffer) => void | Promise<void>,
): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextChunk(body, chunks, what, silenceMs());
      if (next.done === true) return;
      const working = onChunk(next.value as Buffer);
      if (working !== undefined) await working;
    }
  } finally {
    await chunks.return?.();
  }
}

async function nextChunk(
  body: Readable,
  chunks: AsyncIterator<unknown>,
  what: string,
  silenceMs: number,
): Promise<IteratorResult<unknown>> {
  const watchdog = setTimeout(() => {
    const message = `${what}: nothing came for ${silenceMs / 1000} s`;
    body.destroy(new PointsmanError('E_API_UNREACHABLE', message, { facts: { code: SILENT } }));
  }, silenceMs);
  try {
    return await chunks.next();
  } catch (cause) {
    if (cause instanceof PointsmanError) throw cause;
    const garbled = cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_');
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw garbled
      ? new PointsmanError('E_API_MALFORMED', `${what}: the compression is broken: ${reason}`, { cause })
      : new PointsmanError('E_API_UNREACHABLE', `${what}: it broke off: ${reason}`, { cause });
  } finally {
    clearTimeout(watchdog);
  }
}

/** The whole body. Throws E_API_MALFORMED above `limit` bytes, else as `readChunks`. */
export async function readAll(
  body: Readable,
  what: string,
  silenceMs: number,
  limit: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  await readChunks(
    body,
    what,
    () => silenceMs,
    (chunk) => {
      size += chunk.length;
      if (size > limit) throw new PointsmanError('E_API_MALFORMED', `${what}: longer than ${limit} bytes`);
      chunks.push(chunk);
    },
  );
  return Buffer.concat(chunks);
}
