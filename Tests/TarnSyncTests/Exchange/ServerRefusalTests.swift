import Testing

@testable import TarnSync

@Suite struct ServerRefusalTests {
  @Test(
    arguments: [
      ("23505", .commit), ("23514", .commit), ("22003", .commit), ("44000", .commit),
      ("54000", .commit), ("42501", .commit), ("P0001", .commit), ("TN001", .merge),
      ("TN002", .version), ("28P01", .login), ("28000", .login), ("42P01", .schema),
      ("42703", .schema), ("25006", .standby), ("40P01", .stuck), ("40001", .stuck),
      ("57P01", .again), ("08006", .again), ("53300", .again), ("55P03", .stuck), ("", .again),
      ("42601", .stuck), ("XX000", .stuck), ("42883", .stuck), ("55000", .stuck), ("0A000", .stuck),
      ("57014", .stuck), ("P0002", .commit), ("P0003", .commit), ("P0004", .commit),
      ("21000", .commit), ("38001", .commit), ("39004", .commit), ("2F003", .commit),
      ("09000", .commit), ("27000", .stuck), ("OOPS1", .commit), ("AB123", .commit),
      ("TN009", .again), ("3D000", .schema), ("26000", .again),
    ] as [(String, ServerRefusal)])
  func `the code of an error says what to do`(_ state: String, _ expected: ServerRefusal) {
    #expect(ServerRefusal(state) == expected)
  }
}
