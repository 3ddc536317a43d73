import type { InternalHttp, InternalRequest } from '@gateway/platform';
import { seededRandom } from '@gateway/testing/plain';
import { HttpDirectory } from './http-directory.js';

function directoryThat(answer: { status: number; body: unknown }): {
  directory: HttpDirectory;
  asked: InternalRequest[];
} {
  const asked: InternalRequest[] = [];
  const request = async (one: InternalRequest) => {
    asked.push(one);
    return { ...answer, headers: {} };
  };
  return { directory: new HttpDirectory({ request } as unknown as InternalHttp, seededRandom(1)), asked };
}

describe('the keys service’s directory over HTTP', () => {
  it('asks for the owners of an organization at the path that the keys service has', async () => {
    const { directory, asked } = directoryThat({ status: 200, body: { emails: ['a@b.example'] } });
    expect(await directory.ownerEmails('org/1')).toEqual(['a@b.example']);
    expect(asked).toMatchObject([{ service: 'keys', method: 'GET', path: '/internal/orgs/org%2F1/owners' }]);
  });

  it('asks for who pays at the directory', async () => {
    const { directory, asked } = directoryThat({ status: 200, body: { payer: null } });
    expect(await directory.payer('org_1')).toBeNull();
    expect(asked).toMatchObject([{ method: 'GET', path: '/internal/directory/payers/org_1' }]);
  });

  it.each([
    { status: 404, body: { error: {} } },
    { status: 200, body: {} },
    { status: 200, body: { emails: [1] } },
    { status: 200, body: null },
  ])('says that nobody could say where the answer is %j', async (answer) => {
    const { directory } = directoryThat(answer);
    await expect(directory.ownerEmails('org_1')).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
