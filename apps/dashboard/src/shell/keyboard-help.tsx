import { Kbd, Modal, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { LETTERS } from './letters.js';
import { usePages } from './pages.js';

const keysTo = (letters: readonly string[]): readonly [keys: readonly string[], what: string][] => [
  [['Ctrl', 'K'], 'Go to a page, action, key, model, member or request'],
  [['/'], 'Search this page'],
  [['j'], 'Next row'],
  [['k'], 'Row before'],
  [['Enter'], 'Open the row'],
  ...letters.map((letter): [string[], string] => [['g', letter], LETTERS[letter].name]),
  [['?'], 'This list'],
];

export default function KeyboardHelp({ onClose }: { onClose: () => void }): ReactNode {
  const paths = usePages().map(({ path }) => path);
  const letters = Object.keys(LETTERS).filter((letter) => paths.includes(LETTERS[letter].path));
  return (
    <Modal opened onClose={onClose} title="Keyboard">
      <Table aria-label="Keyboard">
        <Table.Tbody>
          {keysTo(letters).map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>{what}</Table.Td>
              <Table.Td ta="right">
                {keys.map((key) => (
                  <Kbd key={key} ml={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
