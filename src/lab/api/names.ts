// The syntax of names, labels and label values (RFC 1123, RFC 1035, RFC 6335), with the server's words for each breach.

const LABEL_1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN_1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_LENGTH = 63;
const SUBDOMAIN_LENGTH = 253;

/** Checks a text: the ways in which it breaks a rule, none when it follows it. */
export type NameRule = (text: string) => readonly string[];

function rule(pattern: RegExp, length: number, words: string): NameRule {
  return (text) => [
    ...(text.length > length ? [`must be no more than ${length} bytes`] : []),
    ...(pattern.test(text) ? [] : [words]),
  ];
}

export const dnsLabel: NameRule = rule(
  LABEL_1123,
  LABEL_LENGTH,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
);

export const serviceName: NameRule = rule(
  LABEL_1035,
  LABEL_LENGTH,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
);

export const dnsSubdomain: NameRule = rule(
  SUBDOMAIN_1123,
  SUBDOMAIN_LENGTH,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
);

export const labelValue: NameRule = (text) => [
  ...(text.length > LABEL_LENGTH ? [`must be no more than ${LABEL_LENGTH} bytes`] : []),
  ...(text === '' || QUALIFIED.test(text)
    ? []
    : [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ]),
];

/** A key of a label or annotation: `name` or `prefix/name`. */
export const qualifiedName: NameRule = (text) => {
  const slash = text.indexOf('/');
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  const name = text.slice(slash + 1);
  const words: string[] = [];
  if (prefix !== undefined)
    words.push(
      ...(prefix === '' ? ['must be non-empty'] : dnsSubdomain(prefix)).map((why) => `prefix part ${why}`),
    );
  if (name === '') words.push('name part must be non-empty');
  if (name.length > LABEL_LENGTH) words.push(`name part must be no more than ${LABEL_LENGTH} bytes`);
  if (!QUALIFIED.test(name))
    words.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    );
  return words;
};

/** A port's name as RFC 6335 has it. */
export const portName: NameRule = (text) => [
  ...(text.length > 15 ? ['must be no more than 15 characters'] : []),
  ...(/^[-a-z0-9]+$/.test(text)
    ? []
    : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(text) ? [] : ['must contain at least one letter (a-z)']),
  ...(text.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(text.startsWith('-') || text.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
];

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Five characters to end a generated name with; no vowels, so that no words come out. */
export function nameSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');
}
