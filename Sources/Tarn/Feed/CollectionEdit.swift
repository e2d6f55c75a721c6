import TarnStore

/// How the elements of a list, set or map of an object moved between two versions, as positions. A
/// set is in the order of its values, a map in the order of its keys.
///
/// Removing the elements at `deletions` from the old collection, and then inserting those at
/// `insertions`, gives the order of the new one. An element that moved is in both.
public struct CollectionEdit: Hashable, Sendable {
  /// Old positions of removed elements.
  public let deletions: [Int]
  /// New positions of inserted elements.
  public let insertions: [Int]
  /// New positions of elements that stayed and were set.
  public let modifications: [Int]
  /// The number of elements before.
  public let oldCount: Int
  /// The number of elements after. It differs from that of the object in a batch that ends before
  /// the newest version, if the collection changed again since.
  public let newCount: Int

  init(_ script: EditScript) {
    let changes = script.indexChanges()
    deletions = changes.deletions
    insertions = changes.insertions
    modifications = changes.modificationsNew
    oldCount = script.oldCount
    newCount = script.newCount
  }
}
