import type { INestApplication } from '@nestjs/common';
import { FirstRun, OpeningCredit } from '@gateway/keys';

/** Seeds an empty database and prints the first login, this once: the log would keep it. */
export async function announceFirstRun(app: INestApplication): Promise<void> {
  const first = await app.get(FirstRun, { strict: false }).run({ withKey: false });
  if (first === null) return;
  process.stdout.write(`${JSON.stringify({ first_login: first.admin })}\n`);
  app.get(OpeningCredit, { strict: false }).wake();
}
