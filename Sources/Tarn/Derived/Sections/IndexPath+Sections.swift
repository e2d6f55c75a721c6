public import Foundation
internal import TarnStore

extension IndexPath {
  /// The position of an item in a section.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The section's number, the first of the two numbers. Traps for a path of another length.
  public var section: Int {
    require(
      count == 2,
      "An index path of \(count) numbers is not a section and an item."
    )
    return self[0]
  }

  /// The position in the section, the second of the two numbers. Traps for a path of another
  /// length.
  public var item: Int {
    require(
      count == 2,
      "An index path of \(count) numbers is not a section and an item."
    )
    return self[1]
  }
}
