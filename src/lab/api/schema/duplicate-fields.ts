// Finds fields that stand twice in one JSON object. JSON.parse keeps the last and says nothing.

/** The paths of fields that repeat, such as `spec.type`. The text must be valid JSON. */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = [];
  let at = 0;

  const skipSpace = (): void => {
    while (at < text.length && ' \t\n\r'.includes(text[at] ?? '')) at += 1;
  };
  const readString = (): string => {
    const start = at;
    at += 1;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const readValue = (path: string): void => {
    skipSpace();
    const first = text[at];
    if (first === '{') readObject(path);
    else if (first === '[') readArray(path);
    else if (first === '"') readString();
    else while (at < text.length && !',]} \t\n\r'.includes(text[at] ?? '')) at += 1;
    skipSpace();
  };
  const readObject = (path: string): void => {
    const seen = new Set<string>();
    at += 1;
    skipSpace();
    while (at < text.length && text[at] !== '}') {
      const field = readString();
      const inner = path === '' ? field : `${path}.${field}`;
      if (seen.has(field)) found.push(inner);
      seen.add(field);
      skipSpace();
      at += 1; // the colon
      readValue(inner);
      if (text[at] === ',') at += 1;
      skipSpace();
    }
    at += 1;
  };
  const readArray = (path: string): void => {
    at += 1;
    skipSpace();
    for (let index = 0; at < text.length && text[at] !== ']'; index += 1) {
      readValue(`${path}[${index}]`);
      if (text[at] === ',') at += 1;
      skipSpace();
    }
    at += 1;
  };

  readValue('');
  return found;
}
