import { createHash } from 'node:crypto';
import type { ProviderCredential } from '@gateway/contracts';
import { Issued, type Source } from '../issued/issued.js';

type ServiceAccount = Pick<Extract<ProviderCredential, { kind: 'vertex' }>, 'clientEmail' | 'privateKey'>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_TIMEOUT_MS = 10_000;
/** Google's libraries ask for the next token when this much is left. */
const RENEWED_MS = 300_000;
/** Accounts whose tokens are kept: the platform's own and those of callers. */
const ACCOUNTS_MAX = 1_000;

/** Opens Google's library for a service account. */
async function serviceAccount({
  clientEmail: email,
  privateKey: key,
}: ServiceAccount): Promise<Source<string>> {
  const { JWT } = await import('google-auth-library');
  const client = new JWT({
    email,
    key,
    scopes: [SCOPE],
    eagerRefreshThresholdMillis: RENEWED_MS,
    transporterOptions: { timeout: TOKEN_TIMEOUT_MS },
  });
  return async () => tokenOf((await client.getAccessToken()).token);
}

/**
 * Opens Google's library for application default credentials: the file of GOOGLE_APPLICATION_CREDENTIALS, which may name
 * an account of another cloud, else what the machine has. The library reads the variable by itself.
 */
export async function applicationDefault(projectId: string): Promise<Source<string>> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({
    scopes: [SCOPE],
    // Without it the library asks Google for the project.
    projectId,
    clientOptions: {
      eagerRefreshThresholdMillis: RENEWED_MS,
      transporterOptions: { timeout: TOKEN_TIMEOUT_MS },
    },
  });
  return async () => tokenOf(await auth.getAccessToken());
}

/** Access tokens of service accounts: one client an account, and one request for a token at a time. */
export class AccessTokens {
  private readonly entries = new Map<string, Issued<string>>();

  constructor(private readonly open = serviceAccount) {}

  /** Rejects where Google refuses the account or does not answer. */
  token(account: ServiceAccount): Promise<string> {
    return this.of(account).current();
  }

  of(account: ServiceAccount): Issued<string> {
    const id = createHash('sha256').update(`${account.clientEmail}\n${account.privateKey}`).digest('base64');
    const known = this.entries.get(id);
    if (known) {
      // Used last: the oldest leaves first.
      this.entries.delete(id);
      this.entries.set(id, known);
      return known;
    }
    const made = new Issued(() => this.open(account));
    this.entries.set(id, made);
    const [oldest] = this.entries.keys();
    if (this.entries.size > ACCOUNTS_MAX) this.entries.delete(oldest);
    return made;
  }
}

function tokenOf(token: string | null | undefined): string {
  if (typeof token !== 'string' || token === '') throw new Error('Google gave no access token.');
  return token;
}
