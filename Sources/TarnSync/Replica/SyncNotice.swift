/// A notice about values or a class, which a session delivers once.
package enum SyncNotice: Hashable, Sendable {
  /// A value of the server that the file cannot have.
  case leftOut(LeftOutValue)
  /// Further left-out values, which are not listed.
  case moreLeftOut
  /// Numbers of the server are rounded in a property.
  case rounded(String, String)
  /// The server has stored another value than this file sent.
  case changedByServer(String, String)
  /// A class was removed from the server and added again, perhaps with another table.
  case otherTable(String)

  package var text: String {
    switch self {
    case .leftOut(let value):
      "left out until it is corrected on the server: \(value.text)"
    case .moreLeftOut: "more values of the server are left out: 'tarn sync status' counts them"
    case .rounded(let name, let property):
      "decimals of \(name).\(property) have more than 34 digits on the server, and are rounded here"
    case .changedByServer(let name, let property):
      "the server has stored other values of \(name).\(property) than were sent: its column or a"
        + " trigger has cut or rounded them"
    case .otherTable(let name):
      "class \(name) was removed from the server and added again: all its objects are compared, and"
        + " those that its table lacks are sent"
    }
  }
}
