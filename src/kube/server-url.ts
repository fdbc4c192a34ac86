// The URL of an API server, as clientcmd reads it: a bare host:port is allowed.
import { PointsmanError } from '../base/errors.ts';

/** Reads `https://host:6443/prefix` or `host:6443`. `tls` says which scheme a bare host gets. Throws E_KUBECONFIG. */
export function serverUrl(value: string, what: string, tls: boolean): URL {
  const wrong = (problem: string): PointsmanError =>
    new PointsmanError(
      'E_KUBECONFIG',
      `${what} is "${value.replace(/\/\/[^/@]*@/, '//…@')}": ${problem}, a URL such as "https://192.0.2.10:6443" is needed`,
    );
  const full = value.includes('://') ? value : `${tls ? 'https' : 'http'}://${value}`;
  if (value === '' || !URL.canParse(full)) throw wrong('that is no URL');
  const url = new URL(full);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('only https and http are spoken');
  if (url.username !== '' || url.password !== '') throw wrong('credentials belong under users');
  if (url.search !== '' || url.hash !== '') throw wrong('a query or fragment cannot be part of it');
  return url;
}
