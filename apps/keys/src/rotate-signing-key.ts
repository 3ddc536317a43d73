import 'reflect-metadata';
import { KeysConfig, rotateSigningKey } from '@gateway/keys';
import { loadConfig, serviceEnvironment, SystemClock, SystemRandom } from '@gateway/platform';

/** `node dist/apps/keys/src/rotate-signing-key.js`, in the environment of the keys service. */
try {
  const config = loadConfig(KeysConfig, serviceEnvironment('keys'));
  const kid = await rotateSigningKey(config, { clock: new SystemClock(), random: new SystemRandom() });
  process.stdout.write(`${JSON.stringify({ signing_key: kid })}\n`);
} catch (failure) {
  process.stderr.write(
    `rotate-signing-key: ${failure instanceof Error ? failure.message : String(failure)}\n`,
  );
  process.exitCode = 1;
}
