import { lookup, Resolver } from 'node:dns/promises';

/** Every address of a name; empty where it has none. Rejects where nobody could say. */
export type Resolve = (name: string) => Promise<string[]>;

const TRY_MS = 2_000;
const TRIES = 2;
/** The name is known and has no address of this family, or is not known. */
const NONE: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND']);

/** Asks DNS itself: neither /etc/hosts nor a search list makes a caller's name mean something inside. */
export function dnsResolver(servers: readonly string[] = []): Resolve {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = answers.find((answer) => answer.status === 'rejected' && !isNone(answer.reason));
    // What one family answers is enough: only what was checked is connected to.
    if (found.length === 0 && failure?.status === 'rejected')
      throw new Error(`${name} could not be resolved.`, { cause: failure.reason });
    return found;
  };
}

/** Resolves names as the machine itself does; for destinations that the operator has named. */
export async function systemResolve(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function isNone(failure: unknown): boolean {
  return typeof failure === 'object' && failure !== null && 'code' in failure && NONE.has(failure.code);
}
