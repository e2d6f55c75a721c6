public import Tarn

/// What is known of the person of a user: columns of the user's row in
/// ``AppConfiguration/customDataTable``, as last read by ``User/refreshCustomData()``.
///
/// Each property is the column of the same name, such as `name` or `first_name`, if that has a
/// text; nil without it.
public struct UserProfile {
  /// All columns of the row.
  public let metadata: [String: AnyRealmValue]
  private let role: String

  init(_ metadata: [String: AnyRealmValue], role: String) {
    (self.metadata, self.role) = (metadata, role)
  }

  /// The column `name`.
  public var name: String? { metadata["name"]?.stringValue }
  /// The column `email`; without it the name of the role, if that is an email address.
  public var email: String? {
    metadata["email"]?.stringValue ?? (role.utf8.contains(UInt8(ascii: "@")) ? role : nil)
  }
  /// The column `picture_url`.
  public var pictureURL: String? { metadata["picture_url"]?.stringValue }
  /// The column `first_name`.
  public var firstName: String? { metadata["first_name"]?.stringValue }
  /// The column `last_name`.
  public var lastName: String? { metadata["last_name"]?.stringValue }
  /// The column `gender`.
  public var gender: String? { metadata["gender"]?.stringValue }
  /// The column `birthday`.
  public var birthday: String? { metadata["birthday"]?.stringValue }
  /// The column `min_age`.
  public var minAge: String? { metadata["min_age"]?.stringValue }
  /// The column `max_age`.
  public var maxAge: String? { metadata["max_age"]?.stringValue }
}

extension User {
  /// What is known of the user's person.
  public var profile: UserProfile { UserProfile(customData, role: id) }
}
