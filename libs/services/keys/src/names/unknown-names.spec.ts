import type { CatalogueNames } from '@gateway/contracts';
import { refuseUnlisted } from './unknown-names.js';

const names = {
  unknown: async ({ ids }: { ids: string[] }) => ({ models: [], providers: [], ids }),
} as unknown as CatalogueNames;

describe('ids of an allow-list', () => {
  it.each([{}, { allowed_models: null }, { allowed_models: ['acme/*'] }])(
    'the stored row is not read for %j, which adds no id',
    async (body) => {
      const stored = async (): Promise<never> => {
        throw new Error('read');
      };
      await expect(refuseUnlisted(names, body, stored)).resolves.toBeUndefined();
    },
  );

  it('422 for an id that is neither listed nor stored', async () => {
    const stored = async (): Promise<object> => ({ allowed_models: ['acme/old'] });
    await expect(refuseUnlisted(names, { allowed_models: ['acme/old'] }, stored)).resolves.toBeUndefined();
    await expect(refuseUnlisted(names, { allowed_models: ['acme/new'] }, stored)).rejects.toMatchObject({
      code: 'unprocessable_entity',
    });
  });
});
