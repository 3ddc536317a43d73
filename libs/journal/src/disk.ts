import {
  close,
  fdatasync,
  fsync,
  mkdirSync,
  open,
  openSync,
  read,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlink,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { faultOf } from './alarm.js';

/** The part of node:fs that the journal uses, so that a test can make it fail. */
export interface Disk {
  /** Creates the folder for this user alone, and so its files: records name people and their requests. */
  makeFolder(path: string): void;
  /** Names in a folder; empty where there is none. */
  list(folder: string): string[];
  sizeOf(path: string): number;
  /** A new file for appending; fails where it exists. */
  create(path: string): number;
  /** Returns how many bytes were written, which may be fewer than asked. */
  write(fd: number, bytes: Buffer, offset: number): number;
  sync(fd: number): Promise<void>;
  syncFolder(path: string): Promise<void>;
  openToRead(path: string): Promise<number>;
  read(fd: number, into: Buffer, length: number, position: number): Promise<number>;
  close(fd: number): Promise<void>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): void;
  /** Removes an empty folder only. */
  removeFolder(path: string): void;
}

const openFile = promisify(open);
const readBytes = promisify(read);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);
const syncEntry = promisify(fsync);
const unlinkFile = promisify(unlink);

function isMissing(error: unknown): boolean {
  return faultOf(error).code === 'ENOENT';
}

export const nodeDisk: Disk = {
  makeFolder: (path) => void mkdirSync(path, { recursive: true, mode: 0o700 }),
  list: (folder) => {
    try {
      return readdirSync(folder).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },
  sizeOf: (path) => statSync(path).size,
  create: (path) => openSync(path, 'ax', 0o600),
  write: (fd, bytes, offset) => writeSync(fd, bytes, offset, bytes.length - offset),
  sync: (fd) => syncFile(fd),
  syncFolder: async (path) => {
    const fd = await openFile(path, 'r');
    try {
      await syncEntry(fd);
    } finally {
      await closeFile(fd);
    }
  },
  openToRead: (path) => openFile(path, 'r'),
  read: async (fd, into, length, position) => (await readBytes(fd, into, 0, length, position)).bytesRead,
  close: (fd) => closeFile(fd),
  remove: async (path) => {
    try {
      await unlinkFile(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  },
  rename: (from, to) => renameSync(from, to),
  removeFolder: (path) => rmdirSync(path),
};

/** `7` is `00000007.log`: names sort as their numbers. */
export function segmentName(index: number): string {
  return `${String(index).padStart(8, '0')}.log`;
}

/** Numbers of the segments of a folder, ascending. Files set aside end in `.quarantine` and are not among them. */
export function segmentsIn(disk: Disk, folder: string): number[] {
  return disk
    .list(folder)
    .filter((name) => /^\d{8,}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((left, right) => left - right);
}
