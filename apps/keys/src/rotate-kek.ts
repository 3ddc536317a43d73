import 'reflect-metadata';
import { KeysConfig, rewrapProviderKeys } from '@gateway/keys';
import { loadConfig, serviceEnvironment, SystemRandom } from '@gateway/platform';

/** `node dist/apps/keys/src/rotate-kek.js`, in the environment of the keys service with KEYS_KEK and KEYS_KEK_PREVIOUS. */
try {
  const config = loadConfig(KeysConfig, serviceEnvironment('keys'));
  const provider_keys = await rewrapProviderKeys(config, new SystemRandom());
  process.stdout.write(`${JSON.stringify({ provider_keys })}\n`);
} catch (failure) {
  process.stderr.write(`rotate-kek: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
