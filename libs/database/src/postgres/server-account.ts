import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The OS user and the wrapper command with which to start a PostgreSQL program on this machine. */
export interface ServerAccount {
  /** Owner of the data folder; set only when this process is root, because PostgreSQL refuses to run as root. */
  uid?: number;
  gid?: number;
  /** Words before the program and its arguments; empty where no wrapper is needed. */
  prefix: string[];
  /** False where it cannot enter a folder that it needs: what it needs goes to `reachable.ts`'s place. */
  isEverywhere: boolean;
}

const ACCOUNT_NAME = 'postgres';
/** Any id but 0: inside the namespace it stands for root outside. */
const NAMESPACE_ID = 1_000;

/**
 * Finds how PostgreSQL can run when this process is root, so that it reaches `paths`. A user namespace that shows root
 * under another id comes first: it enters every folder that root enters, a checkout in root's own home (mode 0700)
 * included, and needs no account. Capabilities would not do: initdb asks access(2), which ignores them. Where the
 * machine has no user namespaces (a container), the OS user `postgres` is taken, or created, whatever it can enter.
 * @throws Error with one sentence that says what to do.
 */
export function serverAccount(paths: string[]): ServerAccount {
  if (process.getuid?.() !== 0) return { prefix: [], isEverywhere: true };
  const namespace = ['unshare', '--user', `--map-user=${NAMESPACE_ID}`, `--map-group=${NAMESPACE_ID}`];
  const inNamespace = { uid: 0, gid: 0, prefix: namespace, isEverywhere: true };
  if (canReach(paths, inNamespace)) return inNamespace;

  const account = { ...(findAccount() ?? createAccount()), prefix: [] };
  return { ...account, isEverywhere: canReach(paths, account) };
}

/** spawn() arguments for one program under an account. */
export function underAccount(
  account: Omit<ServerAccount, 'isEverywhere'>,
  program: string,
  args: string[],
): { command: string; args: string[]; ids: { uid?: number; gid?: number } } {
  const [command, ...rest] = [...account.prefix, program, ...args];
  const ids =
    account.prefix.length === 0 && account.uid !== undefined ? { uid: account.uid, gid: account.gid } : {};
  return { command, args: rest, ids };
}

function findAccount(): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${ACCOUNT_NAME}:`));
  if (line === undefined) return undefined;
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function createAccount(): { uid: number; gid: number } {
  try {
    execFileSync(
      'useradd',
      ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', ACCOUNT_NAME],
      {
        stdio: 'pipe',
        timeout: 10_000,
      },
    );
  } catch (cause) {
    // Another run may have created it in the same moment.
    const created = findAccount();
    if (created) return created;
    throw new Error(
      `PostgreSQL does not run as root and the OS user "${ACCOUNT_NAME}" could not be created: ` +
        `run "useradd --system --user-group ${ACCOUNT_NAME}", or run as another user than root.`,
      { cause },
    );
  }
  const created = findAccount();
  if (!created) throw new Error(`The OS user "${ACCOUNT_NAME}" was created but is not in /etc/passwd.`);
  return created;
}

function canReach(paths: string[], account: Omit<ServerAccount, 'isEverywhere'>): boolean {
  const script = 'for path in "$@"; do test -x "$path" || exit 1; done';
  const { command, args, ids } = underAccount(account, '/bin/sh', ['-c', script, 'sh', ...paths]);
  return spawnSync(command, args, { ...ids, cwd: '/', stdio: 'ignore', timeout: 5_000 }).status === 0;
}
