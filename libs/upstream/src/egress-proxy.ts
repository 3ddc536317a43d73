import { Agent } from 'node:https';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import type { UpstreamTls } from './upstream-parts.js';

export interface EgressProxy {
  /** http[s]://[user:password@]host:port; TLS to the provider goes through it by CONNECT. */
  url: string;
  /** Hosts with commas between that are called directly: `.example.com` with all below, `host:port`, `*`. */
  except: string;
}

export interface ProxiedPoolOptions extends Pool.Options {
  connectTimeoutMs: number;
  /** TLS to the provider, where it is not that of all. */
  requestTls: UpstreamTls;
}

/**
 * Calls through a proxy, with one pool per origin as without it. `onPool` is given each pool. A proxy that takes a
 * connection and answers nothing ends with the connect time.
 */
export function proxiedDispatcher(
  { url, except }: EgressProxy,
  { connectTimeoutMs, requestTls, ...options }: ProxiedPoolOptions,
  onPool: (pool: Pool) => void,
): EnvHttpProxyAgent {
  const factory = (origin: string | URL, given: object): Dispatcher => {
    const pool = new Pool(origin, { ...options, ...connectOf(given) });
    onPool(pool);
    return pool;
  };
  return new EnvHttpProxyAgent({
    // Empty, because an absent one is read from the environment.
    httpProxy: '',
    httpsProxy: url,
    noProxy: except,
    factory,
    requestTls,
    connectTimeout: connectTimeoutMs,
    clientFactory: (origin: URL, given: object) =>
      new Pool(origin, { ...given, headersTimeout: connectTimeoutMs }),
  });
}

/** The same for one WebSocket, whose handshake undici's pools do not make. */
export function proxiedAgent({ url, except }: EgressProxy): Agent {
  return new Agent({ proxyEnv: { HTTPS_PROXY: url, NO_PROXY: except } });
}

/** Returns the agent's way to connect: by the proxy, or directly where the host is excepted. */
function connectOf(given: object): Pick<Pool.Options, 'connect'> {
  const connect: unknown = Reflect.get(given, 'connect');
  return typeof connect === 'function' ? { connect: connect as Pool.Options['connect'] } : {};
}
