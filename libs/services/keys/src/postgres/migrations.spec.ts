import { migrationDiff } from '@gateway/database';
import { SCHEMA_DIR } from './keys-database.js';

it('the migrations lead to the schema', async () => {
  expect(await migrationDiff({ schemaDir: SCHEMA_DIR })).toBeNull();
});
