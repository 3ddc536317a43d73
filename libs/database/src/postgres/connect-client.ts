import type pg from 'pg';

/** Throws Error with one sentence that names the server, for whoever has set its address. */
export async function connectClient(client: pg.Client): Promise<void> {
  try {
    await client.connect();
  } catch (cause) {
    throw new Error(`PostgreSQL at ${client.host}:${client.port} cannot be used: ${saidBy(cause)}`, {
      cause,
    });
  }
}

/** Returns the text of a failure: for a name with several addresses Node gives the code alone. */
function saidBy(failure: unknown): string {
  const { message, code } = failure as NodeJS.ErrnoException;
  return message || (code ?? String(failure));
}
