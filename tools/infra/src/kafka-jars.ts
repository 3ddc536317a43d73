import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureProgram } from './programs.js';
import { cacheFolder, repositoryRoot } from './repository.js';

const DOWNLOAD_MS = 300_000;

/** The broker's files in the cache: `libs` is complete as soon as the folder exists. */
export interface KafkaInstallation {
  folder: string;
  /** All jars in a fixed order, because a class-data archive belongs to one exact class path. */
  classPath: string;
}

/** Downloads the jars named in kafka/pom.xml once; later runs find them in the cache. */
export async function kafkaInstallation(): Promise<KafkaInstallation> {
  await ensureProgram('java');
  const pom = join(repositoryRoot, 'tools/infra/kafka/pom.xml');
  const digest = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12);
  const parent = join(cacheFolder(), 'kafka');
  const folder = join(parent, digest);
  if (!existsSync(folder)) await download(pom, parent, folder);
  const libs = join(folder, 'libs');
  const jars = readdirSync(libs).filter((name) => name.endsWith('.jar'));
  return {
    folder,
    classPath: jars
      .sort()
      .map((name) => join(libs, name))
      .join(':'),
  };
}

async function download(pom: string, parent: string, folder: string): Promise<void> {
  await ensureProgram('mvn');
  mkdirSync(parent, { recursive: true });
  // Filled under another name and renamed when complete: a killed download, or two at once, leave no half folder.
  const draft = mkdtempSync(join(parent, 'draft-'));
  const goal = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  try {
    await promisify(execFile)('mvn', [...goal, `-DoutputDirectory=${join(draft, 'libs')}`], {
      timeout: DOWNLOAD_MS,
    });
    if (!existsSync(folder)) renameSync(draft, folder);
  } catch (cause) {
    if (existsSync(folder)) return;
    const output =
      cause instanceof Error && 'stdout' in cause ? String(cause.stdout).trim().slice(0, 500) : '';
    throw new Error(
      `Maven could not download the Kafka broker: check the network and Maven's settings, or set KAFKA_BROKERS. ${output}`,
      { cause },
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
