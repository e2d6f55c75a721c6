/// How long a path of names may be.
///
/// What is kept of a path for observers has all links again for each of its steps, and the steps of
/// some paths are followed by recursion.
package enum PathLimit {
  package static let namesMax = 256

  /// What is said of a path of that many names; nil if it is short enough.
  package static func objection(toNames count: Int) -> String? {
    guard count > namesMax else { return nil }
    return "a key path may have at most \(namesMax) names, and this one has \(count)"
  }

  static func check(_ names: [String]) throws(PredicateError) {
    if let objection = objection(toNames: names.count) { throw PredicateError(objection) }
  }
}
