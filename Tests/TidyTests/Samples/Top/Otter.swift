/// Uses both files, neither of which knows it.
struct Otter {
  var pond = Pond()

  func look() -> Int { pond.heronCount + pond.depth }
}
