/// An observation of an instance as a whole. It logs no changes: `Delivery` calls it.
class RealmObservation: Observation {
  /// The instance shows a newer version, or committed a write of its own.
  func tellOfMove() {}

  /// The instance stays where it is, and a newer version exists.
  func tellOfNewerVersion() {}
}
