import { join } from 'node:path';
import { assertSchemaKnown } from '@gateway/database';
import { testPostgres } from '@gateway/testing';
import { applyService } from './apply-service.js';

describe('the migration job', () => {
  it.each(['catalogue', 'keys', 'usage', 'notifications', 'workers'])(
    'makes the schema that the %s service accepts, twice as well',
    async (schema) => {
      const { url, drop } = await testPostgres();
      const schemaDir = join(import.meta.dirname, '../../../libs/services', schema, 'prisma');
      await expect(assertSchemaKnown({ url, schemaDir, schema })).rejects.toThrow();
      await applyService(schema, { DATABASE_URL: url });
      await applyService(schema, { [`${schema.toUpperCase()}_DATABASE_URL`]: url });
      await expect(assertSchemaKnown({ url, schemaDir, schema })).resolves.toBeUndefined();
      await drop();
    },
  );

  it('says what is wrong with the call', async () => {
    await expect(applyService('edge', {})).rejects.toThrow('edge has no database');
    await expect(applyService('keys', {})).rejects.toThrow('KEYS_DATABASE_URL or DATABASE_URL is required.');
  });
});
