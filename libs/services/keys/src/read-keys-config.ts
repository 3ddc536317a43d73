import { existsSync } from 'node:fs';
import { ORG_TIERS } from '@gateway/contracts';
import { loadConfig, readConfigs, requireMakeable, SystemRandom } from '@gateway/platform';
import { withBilling } from '@gateway/upstream';
import { fileBudgetsOf } from './budgets/file-budgets.js';
import { KeysConfig, KeysSecretsConfig } from './keys.config.js';
import { orgDefaultsOf } from './orgs/org-defaults.js';
import { loadSecrets } from './secrets/service-secrets.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings, with the secrets and the file that they name looked at; a file that the start makes is not made here.
 * Throws ConfigError.
 */
export function readKeysConfig(env: Environment): Readonly<KeysConfig> {
  const { config } = readConfigs({
    config: () => loadConfig(KeysConfig, withBilling(env)),
    // Each by itself, so that another setting's fault hides none of them.
    defaults: () =>
      orgDefaultsOf({
        GATEWAY_CONFIG: env.GATEWAY_CONFIG || undefined,
        KEYS_DEFAULT_TIER: ORG_TIERS.find((tier) => tier === env.KEYS_DEFAULT_TIER),
        BILLING: withBilling(env).BILLING === 'off' ? 'off' : 'prepaid',
      }),
    budgets: () => fileBudgetsOf({ GATEWAY_CONFIG: env.GATEWAY_CONFIG || undefined }),
    secrets: () => lookAtSecrets(loadConfig(KeysSecretsConfig, env)),
  });
  return config;
}

function lookAtSecrets(config: Readonly<KeysSecretsConfig>): void {
  const { KEYS_SECRETS_FILE: path, KEYS_SECRETS_CREATE: mayCreate, KEYS_PEPPER, KEYS_KEK } = config;
  const isMadeLater = mayCreate && (KEYS_PEPPER === undefined || KEYS_KEK === undefined);
  if (isMadeLater && path !== undefined && !existsSync(path)) requireMakeable('KEYS_SECRETS_FILE', path);
  else loadSecrets(config, new SystemRandom());
}
