import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** The facts of a machine that an install needs; a test hands in its own. */
export interface Machine {
  isRoot: boolean;
  has(program: string): boolean;
  run(command: string, args: string[]): Promise<void>;
}

interface Requirement {
  debianPackage: string;
  brewPackage: string;
  /** Advice where it is not installed, after "run …,". It names the variable that makes the program unnecessary. */
  otherwise: string;
}

const REQUIREMENTS: Record<string, Requirement> = {
  'redis-server': {
    debianPackage: 'redis-server',
    brewPackage: 'redis',
    otherwise: runningServer('REDIS_URL'),
  },
  java: {
    debianPackage: 'default-jre-headless',
    brewPackage: 'openjdk',
    otherwise: runningServer('KAFKA_BROKERS'),
  },
  mvn: { debianPackage: 'maven', brewPackage: 'maven', otherwise: runningServer('KAFKA_BROKERS') },
  chromium: {
    debianPackage: 'chromium',
    brewPackage: '--cask chromium',
    otherwise: 'or set CHROMIUM_PATH to a Chromium',
  },
};

const POLICY_FILE = '/usr/sbin/policy-rc.d';
/** Chromium brings two hundred packages. */
const INSTALL_MS = 600_000;

/**
 * Makes sure a program is on the PATH: installs it as root on Debian.
 * @throws Error with the command to run, where it cannot be installed
 */
export async function ensureProgram(program: string, machine: Machine = thisMachine): Promise<void> {
  if (machine.has(program)) return;
  if (canInstall(machine)) await aptInstall(REQUIREMENTS[program].debianPackage, machine);
  if (machine.has(program)) return;
  throw new Error(adviceOn(program));
}

/** True if `ensureProgram` installs what is missing, without asking anyone. */
export function canInstall(machine: Machine): boolean {
  return machine.isRoot && machine.has('apt-get');
}

/** Returns the sentence that says what to run where a program is missing and cannot be installed. */
export function adviceOn(program: string): string {
  const { debianPackage, brewPackage, otherwise } = REQUIREMENTS[program];
  return (
    `The program ${program} is missing: run "sudo apt-get install -y ${debianPackage}" ` +
    `(macOS: "brew install ${brewPackage}"), ${otherwise}.`
  );
}

function runningServer(variable: string): string {
  return `start Docker, or set ${variable} to a running server`;
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
