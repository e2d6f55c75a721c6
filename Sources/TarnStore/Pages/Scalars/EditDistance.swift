/// The number of letters to insert, delete or replace to turn one word into the other.
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

/// A suggestion for a name that does not exist: the nearest known one, if it is near enough.
package func nearestName(to name: String, among known: some Sequence<String>) -> String? {
  let wanted = name.lowercased()
  // Two swapped letters count as two edits.
  let stepsMax = wanted.count < 4 ? 1 : max(2, wanted.count / 3)
  var nearest: (steps: Int, name: String)?
  for other in known where abs(other.count - wanted.count) <= stepsMax {
    let steps = editDistance(wanted, other.lowercased())
    if steps <= stepsMax, steps < nearest?.steps ?? .max { nearest = (steps, other) }
  }
  return nearest?.name
}
