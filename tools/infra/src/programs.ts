import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** What installing needs to know of a machine; a test hands in its own. */
export interface Machine {
  isRoot: boolean;
  has(program: string): boolean;
  run(command: string, args: string[]): Promise<void>;
}

interface Requirement {
  debianPackage: string;
  brewPackage: string;
  /** The variable that makes the program unnecessary. */
  variable: string;
}

const REQUIREMENTS: Record<string, Requirement> = {
  'redis-server': { debianPackage: 'redis-server', brewPackage: 'redis', variable: 'REDIS_URL' },
  java: { debianPackage: 'default-jre-headless', brewPackage: 'openjdk', variable: 'KAFKA_BROKERS' },
  mvn: { debianPackage: 'maven', brewPackage: 'maven', variable: 'KAFKA_BROKERS' },
};

const POLICY_FILE = '/usr/sbin/policy-rc.d';
const INSTALL_MS = 300_000;

/**
 * Makes sure a program is on the PATH: installs it as root on Debian, else says exactly what to run.
 * Nothing is ever skipped because a program is missing.
 */
export async function ensureProgram(program: string, machine: Machine = thisMachine): Promise<void> {
  if (machine.has(program)) return;
  const { debianPackage, brewPackage, variable } = REQUIREMENTS[program];
  if (machine.isRoot && machine.has('apt-get')) await aptInstall(debianPackage, machine);
  if (machine.has(program)) return;
  throw new Error(
    `The program ${program} is missing: run "sudo apt-get install -y ${debianPackage}" ` +
      `(macOS: "brew install ${brewPackage}"), start Docker, or set ${variable} to a running server.`,
  );
}

async function aptInstall(debianPackage: string, machine: Machine): Promise<void> {
  const install = [
    'install',
    '-y',
    '--no-install-recommends',
    '-o',
    'DPkg::Lock::Timeout=120',
    debianPackage,
  ];
  // Debian starts a service when it is installed; this file is its documented way to say no.
  const isOurs = !existsSync(POLICY_FILE);
  if (isOurs) writeFileSync(POLICY_FILE, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    // Without package lists, as in a fresh image, the first try fails at once.
    await machine.run('apt-get', install).catch(async () => {
      await machine.run('apt-get', ['update', '-o', 'DPkg::Lock::Timeout=120']);
      await machine.run('apt-get', install);
    });
  } catch (cause) {
    throw new Error(`Installing failed: run "apt-get update && apt-get install -y ${debianPackage}".`, {
      cause,
    });
  } finally {
    if (isOurs) rmSync(POLICY_FILE, { force: true });
  }
}

export const thisMachine: Machine = {
  isRoot: process.getuid?.() === 0,
  has: (program) =>
    (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program))),
  run: async (command, args) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await promisify(execFile)(command, args, { timeout: INSTALL_MS, maxBuffer: 64 * 1024 * 1024, env });
  },
};

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
