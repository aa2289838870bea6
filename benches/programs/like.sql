-- Long texts, and those of them that are like another; and other work, of which that is about a twentieth.
CREATE TABLE line (id INTEGER PRIMARY KEY, word TEXT, text TEXT);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
  INSERT INTO line SELECT i, printf('w%x', i * 7919 % 65521), printf('%s%05d', replace(printf('%24s', ''), ' ', 'so many '), i) FROM n;
CREATE INDEX line_by_word ON line (word);
SELECT count(*) FROM line WHERE text LIKE replace(printf('%24s', ''), ' ', 'so many ') || '___7_';
SELECT count(*), sum(length(a.text)) FROM line a JOIN line b ON b.id = a.id * 7 % 20000;
SELECT count(*) FROM line WHERE word IN (SELECT printf('w%x', id * 31) FROM line);
SELECT word FROM line ORDER BY text DESC LIMIT 3;
SELECT length(word), count(*), max(id) FROM line GROUP BY 1 ORDER BY 2;
UPDATE line SET word = word || 'x' WHERE id % 3 = 0;
