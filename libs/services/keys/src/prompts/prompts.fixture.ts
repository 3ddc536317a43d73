import { newId } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import type { KeysApp } from '../keys-app.fixture.js';

export const PROMPT_VERSION = { messages: [{ role: 'user', content: 'Hello {{name}}' }] };

export function anEndUser(): Promise<Record<string, string>> {
  return Promise.resolve({ end_user_id: 'end-user-1' });
}

/** A prompt template of an organization, with one version; ids that are unknown where there is no organization. */
export async function insertPrompt(
  { database: { prisma } }: KeysApp,
  org_id: string | null,
): Promise<{ id: string; version_id: string }> {
  if (org_id === null) return { id: 'tmpl_0', version_id: 'tv_0' };
  const { id: account_id } = await prisma.account.findUniqueOrThrow({ where: { org_id } });
  const clock = new SystemClock();
  const now = new Date(clock.now());
  const id = newId('tmpl', clock, new SystemRandom());
  const by = { created_by: 'usr_0', created_at: now };
  const template = { id, account_id, org_id, name: id, latest_version: 1, updated_at: now, ...by };
  await prisma.promptTemplate.create({ data: template });
  const version_id = `${id}-1`;
  const content = PROMPT_VERSION;
  const version = { id: version_id, template_id: id, version: 1, content, checksum: '', ...by };
  await prisma.promptTemplateVersion.create({ data: version });
  return { id, version_id };
}
