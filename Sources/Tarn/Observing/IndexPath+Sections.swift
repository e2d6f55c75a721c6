public import Foundation
internal import TarnStore

extension IndexPath {
  /// The place of an item in a section.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The first of the two numbers of a place in sections. Traps for a path of another length.
  public var section: Int {
    require(
      count == 2,
      "An index path of \(count) numbers is no place in sections. Make it of a section and an item."
    )
    return self[0]
  }

  /// The second of the two numbers of a place in sections. Traps for a path of another length.
  public var item: Int {
    require(
      count == 2,
      "An index path of \(count) numbers is no place in sections. Make it of a section and an item."
    )
    return self[1]
  }
}
