/// The number of letters to insert, drop or replace that turn one word into the other.
package func editDistance(_ a: String, _ b: String) -> Int {
  let target = Array(b)
  var row = Array(0...target.count)
  for (i, letter) in a.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for j in target.indices {
      let replaced = diagonal + (letter == target[j] ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
    }
  }
  return row[target.count]
}
