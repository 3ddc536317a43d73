import { createHash } from 'node:crypto';
import type { VertexCredential } from './vertex-access.js';

type ServiceAccount = Pick<VertexCredential, 'clientEmail' | 'privateKey'>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_TIMEOUT_MS = 10_000;
/** Accounts whose tokens are kept: the platform's own and those of callers. */
const ACCOUNTS_MAX = 1_000;

/** Returns a token with time left, from memory or new. */
interface TokenClient {
  getAccessToken(): Promise<{ token?: string | null }>;
}

/** Google's library: keeps the token, and gets the next before it ends. Loaded where the first account is used. */
async function googleClient({ clientEmail: email, privateKey: key }: ServiceAccount): Promise<TokenClient> {
  const { JWT } = await import('google-auth-library');
  return new JWT({
    email,
    key,
    scopes: [SCOPE],
    eagerRefreshThresholdMillis: 300_000,
    transporterOptions: { timeout: TOKEN_TIMEOUT_MS },
  });
}

interface Entry {
  client: Promise<TokenClient>;
  inFlight: Promise<string> | null;
}

/** Access tokens of service accounts: one client an account, and one request for a token at a time. */
export class AccessTokens {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly makeClient = googleClient) {}

  /** Rejects where Google refuses the account or does not answer. */
  token(account: ServiceAccount): Promise<string> {
    const entry = this.entryOf(account);
    entry.inFlight ??= fetchToken(entry.client).finally(() => {
      entry.inFlight = null;
    });
    return entry.inFlight;
  }

  private entryOf(account: ServiceAccount): Entry {
    const id = createHash('sha256').update(`${account.clientEmail}\n${account.privateKey}`).digest('base64');
    const known = this.entries.get(id);
    if (known) {
      // Used last: the oldest leaves first.
      this.entries.delete(id);
      this.entries.set(id, known);
      return known;
    }
    const made: Entry = { client: this.makeClient(account), inFlight: null };
    this.entries.set(id, made);
    const [oldest] = this.entries.keys();
    if (this.entries.size > ACCOUNTS_MAX) this.entries.delete(oldest);
    return made;
  }
}

async function fetchToken(client: Promise<TokenClient>): Promise<string> {
  const { token } = await (await client).getAccessToken();
  if (typeof token !== 'string' || token === '') throw new Error('Google gave no access token.');
  return token;
}
