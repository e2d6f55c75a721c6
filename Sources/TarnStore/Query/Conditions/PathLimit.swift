/// How long a path of names may be.
///
/// Observers keep, for each step of a path, all links before it; and some code follows the steps by
/// recursion.
package enum PathLimit {
  package static let namesMax = 256

  /// The error message for a path with that many names; nil if it is short enough.
  package static func objection(toNames count: Int) -> String? {
    guard count > namesMax else { return nil }
    return "a key path may have at most \(namesMax) names, and this one has \(count)"
  }

  static func check(_ names: [String]) throws(PredicateError) {
    if let objection = objection(toNames: names.count) { throw PredicateError(objection) }
  }
}
