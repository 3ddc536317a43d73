import type { Quirks } from '@gateway/dialects';
import { anthropicCompatible } from '../protocol/anthropic-protocol.js';
import { openAiCompatible } from '../protocol/openai-protocol.js';
import type { Provider } from '../provider.js';
import { PROVIDERS } from '../registry.generated.js';
import { isBuiltIn, type GatewayConfig, type OwnProvider } from './gateway-config.js';
import { LIKE, ownDialects } from './own-dialects.js';

const FILE = 'GATEWAY_CONFIG';

/** The upstreams that a file adds to those of this release. */
export function ownProviders({ providers }: GatewayConfig): Provider[] {
  return providers.filter(({ slug }) => !isBuiltIn(slug)).map(ownProvider);
}

function ownProvider(entry: OwnProvider): Provider {
  const { slug, name = slug, dialect = 'chat', base_url = '', api_key_env } = entry;
  const quirks = quirksOf(entry.quirks);
  const base = {
    slug,
    name,
    credentialEnv: api_key_env ?? '',
    baseUrlEnv: FILE,
    defaultBaseUrl: base_url.replace(/\/+$/, ''),
    quirks,
  };
  const isKeyless = api_key_env === undefined;
  if (dialect === 'messages') return { ...anthropicCompatible(base), isKeyless };
  const like = PROVIDERS.find((provider) => provider.slug === LIKE[dialect]);
  if (like) {
    const { accessFrom: _accessFrom, ...called } = like;
    return { ...called, ...base, isKeyless, quirks: (route) => ({ ...like.quirks(route), ...quirks }) };
  }
  return openAiCompatible({
    ...base,
    isKeyless,
    root: '/v1',
    dialects: ownDialects(entry),
    quirks: {
      maxTokensParam: 'max_tokens',
      systemRole: 'system',
      passthroughParams: true,
      stopMax: Infinity,
      returnsReasoning: 'both',
      ...quirks,
    },
  });
}

/** The file spells names as YAML is written. */
function quirksOf(given: Record<string, unknown> = {}): Quirks {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
