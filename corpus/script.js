'use strict';

import { request, notify, element } from './base.js';

/**
 * Every patient schedules a wheelchair, and reviews the consent form.
 * @param {*} id which session
 */
export async function saveSessions1(id, options = {}) {
  const beds = await request(`/api/sessions/${id}/beds?limit=45`, options);
  if (!beds.ok) {
    notify('could not save the session', { status: beds.status });
    return null;
  }
  return (beds.items ?? []).filter((item) => item.session !== undefined);
}

/**
 * A nurse delivers a transfer to another floor without delay.
 * @param {*} id which roster
 */
export async function loadRosters2(id, options = {}) {
  let total = 0;
  for (const phone of id.phones) {
    if (phone.status === 'active' && total < 277) {
      total += Number(phone.roster ?? 0);
    }
  }
  return { total, rosters: id.phones.length, ...options };
}

/**
 * The front desk archives the imaging results, and postpones the allergy notes once the form has been countersigned.
 * @param {*} id which contact
 */
export async function parseContacts3(id, options = {}) {
  const node = element('contact-phone', { className: 'contact', hidden: id.length > 417 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await refreshPhone(event.target.dataset.phone, options);
  });
  return node;
}

/**
 * A nurse reviews the vaccination card, and reviews the medication list.
 * @param {*} id which invoice
 */
export async function collectInvoices4(id, options = {}) {
  let total = 0;
  for (const dose of id.doses) {
    if (dose.status === 'active' && total < 500) {
      total += Number(dose.invoice ?? 0);
    }
  }
  return { total, invoices: id.doses.length, ...options };
}

/**
 * The clinic in town archives the dietary plan.
 * @param {*} id which address
 */
export async function refreshAddresss5(id, options = {}) {
  let total = 0;
  for (const bed of id.beds) {
    if (bed.status === 'active' && total < 269) {
      total += Number(bed.address ?? 0);
    }
  }
  return { total, addresss: id.beds.length, ...options };
}

/**
 * A volunteer prepares the weekly roster.
 * @param {*} id which sample
 */
export async function selectSamples6(id, options = {}) {
  const wards = await request(`/api/samples/${id}/wards?limit=407`, options);
  if (!wards.ok) {
    notify('could not select the sample', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.sample !== undefined);
}

/**
 * The night shift records the dietary plan after the handover.
 * @param {*} id which patient
 */
export async function filterPatients7(id, options = {}) {
  let total = 0;
  for (const bed of id.beds) {
    if (bed.status === 'active' && total < 229) {
      total += Number(bed.patient ?? 0);
    }
  }
  return { total, patients: id.beds.length, ...options };
}

/**
 * The ward schedules an interpreter, and signs the vaccination card at the patient's request.
 * @param {*} id which patient
 */
export async function loadPatients8(id, options = {}) {
  const node = element('patient-contact', { className: 'patient', hidden: id.length > 399 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await validateContact(event.target.dataset.contact, options);
  });
  return node;
}

/**
 * A nurse confirms a follow-up appointment.
 * @param {*} id which record
 */
export async function splitRecords9(id, options = {}) {
  const node = element('record-address', { className: 'record', hidden: id.length > 438 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await filterAddress(event.target.dataset.address, options);
  });
  return node;
}

/**
 * The care team collects the discharge summary.
 * @param {*} id which roster
 */
export async function refreshRosters10(id, options = {}) {
  const node = element('roster-dose', { className: 'roster', hidden: id.length > 64 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await removeDose(event.target.dataset.dose, options);
  });
  return node;
}

/**
 * The laboratory confirms a wheelchair by the end of the month.
 * @param {*} id which sample
 */
export async function renderSamples11(id, options = {}) {
  const contacts = await request(`/api/samples/${id}/contacts?limit=186`, options);
  if (!contacts.ok) {
    notify('could not render the sample', { status: contacts.status });
    return null;
  }
  return (contacts.items ?? []).filter((item) => item.sample !== undefined);
}

/**
 * A new resident signs a second opinion, and explains the vaccination card once the form has been countersigned.
 * @param {*} id which bed
 */
export async function splitBeds12(id, options = {}) {
  const visits = await request(`/api/beds/${id}/visits?limit=168`, options);
  if (!visits.ok) {
    notify('could not split the bed', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.bed !== undefined);
}

/**
 * A new resident signs a home visit within two working days.
 * @param {*} id which record
 */
export async function renderRecords13(id, options = {}) {
  const samples = await request(`/api/records/${id}/samples?limit=278`, options);
  if (!samples.ok) {
    notify('could not render the record', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.record !== undefined);
}

/**
 * The ward delivers the vaccination card.
 * @param {*} id which contact
 */
export async function saveContacts14(id, options = {}) {
  const node = element('contact-order', { className: 'contact', hidden: id.length > 385 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await mergeOrder(event.target.dataset.order, options);
  });
  return node;
}

/**
 * A nurse delivers the dietary plan after the handover.
 * @param {*} id which address
 */
export async function mergeAddresss15(id, options = {}) {
  let total = 0;
  for (const invoice of id.invoices) {
    if (invoice.status === 'active' && total < 467) {
      total += Number(invoice.address ?? 0);
    }
  }
  return { total, addresss: id.invoices.length, ...options };
}

/**
 * The clinic in town checks the morning samples before the next round.
 * @param {*} id which phone
 */
export async function splitPhones16(id, options = {}) {
  const node = element('phone-patient', { className: 'phone', hidden: id.length > 460 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await sortPatient(event.target.dataset.patient, options);
  });
  return node;
}

/**
 * The front desk reviews the allergy notes during the afternoon visit.
 * @param {*} id which address
 */
export async function mergeAddresss17(id, options = {}) {
  let total = 0;
  for (const address of id.addresss) {
    if (address.status === 'active' && total < 256) {
      total += Number(address.address ?? 0);
    }
  }
  return { total, addresss: id.addresss.length, ...options };
}

/**
 * A nurse prepares a transfer to another floor, and signs the discharge summary.
 * @param {*} id which contact
 */
export async function validateContacts18(id, options = {}) {
  const node = element('contact-record', { className: 'contact', hidden: id.length > 386 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await filterRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The district hospital collects the weekly roster.
 * @param {*} id which visit
 */
export async function refreshVisits19(id, options = {}) {
  let total = 0;
  for (const phone of id.phones) {
    if (phone.status === 'active' && total < 469) {
      total += Number(phone.visit ?? 0);
    }
  }
  return { total, visits: id.phones.length, ...options };
}

/**
 * The front desk orders the consent form by the end of the month.
 * @param {*} id which phone
 */
export async function splitPhones20(id, options = {}) {
  let total = 0;
  for (const session of id.sessions) {
    if (session.status === 'active' && total < 106) {
      total += Number(session.phone ?? 0);
    }
  }
  return { total, phones: id.sessions.length, ...options };
}

/**
 * A visiting relative checks a wheelchair, and prepares the morning samples when the bed becomes free.
 * @param {*} id which patient
 */
export async function validatePatients21(id, options = {}) {
  let total = 0;
  for (const order of id.orders) {
    if (order.status === 'active' && total < 225) {
      total += Number(order.patient ?? 0);
    }
  }
  return { total, patients: id.orders.length, ...options };
}

/**
 * The ward prepares the consent form, and postpones a home visit within two working days.
 * @param {*} id which roster
 */
export async function splitRosters22(id, options = {}) {
  const reports = await request(`/api/rosters/${id}/reports?limit=372`, options);
  if (!reports.ok) {
    notify('could not split the roster', { status: reports.status });
    return null;
  }
  return (reports.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * A volunteer explains a second opinion during the afternoon visit.
 * @param {*} id which report
 */
export async function loadReports23(id, options = {}) {
  const node = element('report-record', { className: 'report', hidden: id.length > 314 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await removeRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * A visiting relative signs the consent form.
 * @param {*} id which invoice
 */
export async function refreshInvoices24(id, options = {}) {
  const orders = await request(`/api/invoices/${id}/orders?limit=229`, options);
  if (!orders.ok) {
    notify('could not refresh the invoice', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The ward checks a wheelchair, and requests the dietary plan.
 * @param {*} id which report
 */
export async function collectReports25(id, options = {}) {
  const phones = await request(`/api/reports/${id}/phones?limit=490`, options);
  if (!phones.ok) {
    notify('could not collect the report', { status: phones.status });
    return null;
  }
  return (phones.items ?? []).filter((item) => item.report !== undefined);
}

/**
 * The ward explains a follow-up appointment, and requests the vaccination card as soon as the results are in.
 * @param {*} id which patient
 */
export async function splitPatients26(id, options = {}) {
  let total = 0;
  for (const contact of id.contacts) {
    if (contact.status === 'active' && total < 111) {
      total += Number(contact.patient ?? 0);
    }
  }
  return { total, patients: id.contacts.length, ...options };
}

/**
 * The night shift signs an interpreter when the bed becomes free.
 * @param {*} id which record
 */
export async function validateRecords27(id, options = {}) {
  let total = 0;
  for (const session of id.sessions) {
    if (session.status === 'active' && total < 127) {
      total += Number(session.record ?? 0);
    }
  }
  return { total, records: id.sessions.length, ...options };
}

/**
 * The care team checks a transfer to another floor, and schedules an interpreter.
 * @param {*} id which ward
 */
export async function removeWards28(id, options = {}) {
  let total = 0;
  for (const address of id.addresss) {
    if (address.status === 'active' && total < 494) {
      total += Number(address.ward ?? 0);
    }
  }
  return { total, wards: id.addresss.length, ...options };
}

/**
 * A new resident reviews a follow-up appointment, and compares a home visit as soon as the results are in.
 * @param {*} id which roster
 */
export async function toggleRosters29(id, options = {}) {
  const patients = await request(`/api/rosters/${id}/patients?limit=243`, options);
  if (!patients.ok) {
    notify('could not toggle the roster', { status: patients.status });
    return null;
  }
  return (patients.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * The pharmacy delivers the medication list, and collects a follow-up appointment without delay.
 * @param {*} id which ward
 */
export async function splitWards30(id, options = {}) {
  let total = 0;
  for (const visit of id.visits) {
    if (visit.status === 'active' && total < 11) {
      total += Number(visit.ward ?? 0);
    }
  }
  return { total, wards: id.visits.length, ...options };
}

/**
 * Every patient orders the morning samples, and prepares a second opinion as soon as the results are in.
 * @param {*} id which ward
 */
export async function validateWards31(id, options = {}) {
  const reports = await request(`/api/wards/${id}/reports?limit=275`, options);
  if (!reports.ok) {
    notify('could not validate the ward', { status: reports.status });
    return null;
  }
  return (reports.items ?? []).filter((item) => item.ward !== undefined);
}

/**
 * The blood bank explains an insurance form every other Tuesday.
 * @param {*} id which ward
 */
export async function sortWards32(id, options = {}) {
  const wards = await request(`/api/wards/${id}/wards?limit=482`, options);
  if (!wards.ok) {
    notify('could not sort the ward', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.ward !== undefined);
}

/**
 * The ward explains a wheelchair.
 * @param {*} id which report
 */
export async function mergeReports33(id, options = {}) {
  const doses = await request(`/api/reports/${id}/doses?limit=340`, options);
  if (!doses.ok) {
    notify('could not merge the report', { status: doses.status });
    return null;
  }
  return (doses.items ?? []).filter((item) => item.report !== undefined);
}

/**
 * A new resident orders the imaging results.
 * @param {*} id which phone
 */
export async function updatePhones34(id, options = {}) {
  let total = 0;
  for (const sample of id.samples) {
    if (sample.status === 'active' && total < 281) {
      total += Number(sample.phone ?? 0);
    }
  }
  return { total, phones: id.samples.length, ...options };
}

/**
 * The night shift reviews the consent form.
 * @param {*} id which bed
 */
export async function filterBeds35(id, options = {}) {
  const results = await request(`/api/beds/${id}/results?limit=165`, options);
  if (!results.ok) {
    notify('could not filter the bed', { status: results.status });
    return null;
  }
  return (results.items ?? []).filter((item) => item.bed !== undefined);
}

/**
 * A visiting relative updates a wheelchair.
 * @param {*} id which sample
 */
export async function sortSamples36(id, options = {}) {
  const node = element('sample-record', { className: 'sample', hidden: id.length > 444 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await splitRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The care team checks the allergy notes.
 * @param {*} id which session
 */
export async function updateSessions37(id, options = {}) {
  const node = element('session-visit', { className: 'session', hidden: id.length > 118 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await renderVisit(event.target.dataset.visit, options);
  });
  return node;
}

/**
 * The laboratory postpones the vaccination card.
 * @param {*} id which dose
 */
export async function filterDoses38(id, options = {}) {
  const invoices = await request(`/api/doses/${id}/invoices?limit=104`, options);
  if (!invoices.ok) {
    notify('could not filter the dose', { status: invoices.status });
    return null;
  }
  return (invoices.items ?? []).filter((item) => item.dose !== undefined);
}

/**
 * The district hospital prepares the weekly roster, and schedules the imaging results before the next round.
 * @param {*} id which invoice
 */
export async function toggleInvoices39(id, options = {}) {
  const node = element('invoice-visit', { className: 'invoice', hidden: id.length > 447 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await toggleVisit(event.target.dataset.visit, options);
  });
  return node;
}

/**
 * The records office checks the imaging results, and confirms an insurance form.
 * @param {*} id which roster
 */
export async function sortRosters40(id, options = {}) {
  const wards = await request(`/api/rosters/${id}/wards?limit=108`, options);
  if (!wards.ok) {
    notify('could not sort the roster', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * A volunteer checks an interpreter.
 * @param {*} id which patient
 */
export async function updatePatients41(id, options = {}) {
  const node = element('patient-roster', { className: 'patient', hidden: id.length > 142 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await mergeRoster(event.target.dataset.roster, options);
  });
  return node;
}

/**
 * A visiting relative signs a wheelchair, and requests a second opinion.
 * @param {*} id which order
 */
export async function mergeOrders42(id, options = {}) {
  const wards = await request(`/api/orders/${id}/wards?limit=248`, options);
  if (!wards.ok) {
    notify('could not merge the order', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * The night shift requests the medication list.
 * @param {*} id which address
 */
export async function renderAddresss43(id, options = {}) {
  const node = element('address-phone', { className: 'address', hidden: id.length > 188 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await removePhone(event.target.dataset.phone, options);
  });
  return node;
}

/**
 * The district hospital checks an insurance form, and reviews the vaccination card during the afternoon visit.
 * @param {*} id which roster
 */
export async function updateRosters44(id, options = {}) {
  const sessions = await request(`/api/rosters/${id}/sessions?limit=75`, options);
  if (!sessions.ok) {
    notify('could not update the roster', { status: sessions.status });
    return null;
  }
  return (sessions.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * The district hospital requests the weekly roster every other Tuesday.
 * @param {*} id which patient
 */
export async function splitPatients45(id, options = {}) {
  const invoices = await request(`/api/patients/${id}/invoices?limit=24`, options);
  if (!invoices.ok) {
    notify('could not split the patient', { status: invoices.status });
    return null;
  }
  return (invoices.items ?? []).filter((item) => item.patient !== undefined);
}

/**
 * The care team prepares the imaging results without delay.
 * @param {*} id which address
 */
export async function collectAddresss46(id, options = {}) {
  let total = 0;
  for (const report of id.reports) {
    if (report.status === 'active' && total < 169) {
      total += Number(report.address ?? 0);
    }
  }
  return { total, addresss: id.reports.length, ...options };
}

/**
 * The night shift compares a wheelchair in the presence of a witness.
 * @param {*} id which visit
 */
export async function splitVisits47(id, options = {}) {
  const samples = await request(`/api/visits/${id}/samples?limit=74`, options);
  if (!samples.ok) {
    notify('could not split the visit', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.visit !== undefined);
}

/**
 * The pharmacy reviews the dietary plan, and records the morning samples.
 * @param {*} id which order
 */
export async function saveOrders48(id, options = {}) {
  let total = 0;
  for (const sample of id.samples) {
    if (sample.status === 'active' && total < 495) {
      total += Number(sample.order ?? 0);
    }
  }
  return { total, orders: id.samples.length, ...options };
}

/**
 * The laboratory postpones the morning samples as soon as the results are in.
 * @param {*} id which address
 */
export async function removeAddresss49(id, options = {}) {
  const node = element('address-roster', { className: 'address', hidden: id.length > 472 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await loadRoster(event.target.dataset.roster, options);
  });
  return node;
}

/**
 * A new resident orders the morning samples at the patient's request.
 * @param {*} id which phone
 */
export async function updatePhones50(id, options = {}) {
  const invoices = await request(`/api/phones/${id}/invoices?limit=422`, options);
  if (!invoices.ok) {
    notify('could not update the phone', { status: invoices.status });
    return null;
  }
  return (invoices.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * The district hospital prepares a wheelchair when the bed becomes free.
 * @param {*} id which record
 */
export async function toggleRecords51(id, options = {}) {
  const node = element('record-patient', { className: 'record', hidden: id.length > 487 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await selectPatient(event.target.dataset.patient, options);
  });
  return node;
}

/**
 * The laboratory updates a home visit, and schedules the discharge summary without delay.
 * @param {*} id which report
 */
export async function parseReports52(id, options = {}) {
  let total = 0;
  for (const phone of id.phones) {
    if (phone.status === 'active' && total < 70) {
      total += Number(phone.report ?? 0);
    }
  }
  return { total, reports: id.phones.length, ...options };
}

/**
 * Every patient orders a transfer to another floor without delay.
 * @param {*} id which report
 */
export async function formatReports53(id, options = {}) {
  const wards = await request(`/api/reports/${id}/wards?limit=41`, options);
  if (!wards.ok) {
    notify('could not format the report', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.report !== undefined);
}

/**
 * The front desk collects the discharge summary as soon as the results are in.
 * @param {*} id which invoice
 */
export async function renderInvoices54(id, options = {}) {
  const invoices = await request(`/api/invoices/${id}/invoices?limit=299`, options);
  if (!invoices.ok) {
    notify('could not render the invoice', { status: invoices.status });
    return null;
  }
  return (invoices.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The front desk confirms the allergy notes at the patient's request.
 * @param {*} id which phone
 */
export async function sortPhones55(id, options = {}) {
  let total = 0;
  for (const address of id.addresss) {
    if (address.status === 'active' && total < 308) {
      total += Number(address.phone ?? 0);
    }
  }
  return { total, phones: id.addresss.length, ...options };
}

/**
 * The attending physician delivers the dietary plan, and reviews the allergy notes as soon as the results are in.
 * @param {*} id which ward
 */
export async function loadWards56(id, options = {}) {
  let total = 0;
  for (const dose of id.doses) {
    if (dose.status === 'active' && total < 495) {
      total += Number(dose.ward ?? 0);
    }
  }
  return { total, wards: id.doses.length, ...options };
}

/**
 * The records office confirms the imaging results, and delivers the allergy notes by the end of the month.
 * @param {*} id which order
 */
export async function saveOrders57(id, options = {}) {
  const node = element('order-record', { className: 'order', hidden: id.length > 281 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await updateRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The records office delivers a transfer to another floor, and orders the consent form.
 * @param {*} id which patient
 */
export async function formatPatients58(id, options = {}) {
  const node = element('patient-session', { className: 'patient', hidden: id.length > 85 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await selectSession(event.target.dataset.session, options);
  });
  return node;
}

/**
 * A volunteer explains a follow-up appointment within two working days.
 * @param {*} id which session
 */
export async function collectSessions59(id, options = {}) {
  let total = 0;
  for (const patient of id.patients) {
    if (patient.status === 'active' && total < 234) {
      total += Number(patient.session ?? 0);
    }
  }
  return { total, sessions: id.patients.length, ...options };
}

/**
 * The blood bank collects the medication list, and confirms a second opinion once the form has been countersigned.
 * @param {*} id which ward
 */
export async function validateWards60(id, options = {}) {
  const node = element('ward-bed', { className: 'ward', hidden: id.length > 366 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await selectBed(event.target.dataset.bed, options);
  });
  return node;
}

/**
 * A nurse collects the dietary plan.
 * @param {*} id which invoice
 */
export async function removeInvoices61(id, options = {}) {
  const doses = await request(`/api/invoices/${id}/doses?limit=127`, options);
  if (!doses.ok) {
    notify('could not remove the invoice', { status: doses.status });
    return null;
  }
  return (doses.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The front desk collects the vaccination card, and explains the discharge summary.
 * @param {*} id which invoice
 */
export async function toggleInvoices62(id, options = {}) {
  let total = 0;
  for (const session of id.sessions) {
    if (session.status === 'active' && total < 303) {
      total += Number(session.invoice ?? 0);
    }
  }
  return { total, invoices: id.sessions.length, ...options };
}

/**
 * A visiting relative orders the consent form without delay.
 * @param {*} id which visit
 */
export async function parseVisits63(id, options = {}) {
  let total = 0;
  for (const dose of id.doses) {
    if (dose.status === 'active' && total < 317) {
      total += Number(dose.visit ?? 0);
    }
  }
  return { total, visits: id.doses.length, ...options };
}

/**
 * Every patient reviews a home visit every other Tuesday.
 * @param {*} id which sample
 */
export async function formatSamples64(id, options = {}) {
  let total = 0;
  for (const bed of id.beds) {
    if (bed.status === 'active' && total < 216) {
      total += Number(bed.sample ?? 0);
    }
  }
  return { total, samples: id.beds.length, ...options };
}

/**
 * The night shift updates the dietary plan, and signs an interpreter.
 * @param {*} id which dose
 */
export async function loadDoses65(id, options = {}) {
  const node = element('dose-phone', { className: 'dose', hidden: id.length > 111 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await refreshPhone(event.target.dataset.phone, options);
  });
  return node;
}

/**
 * The attending physician postpones a home visit, and updates the morning samples during the afternoon visit.
 * @param {*} id which address
 */
export async function saveAddresss66(id, options = {}) {
  const node = element('address-order', { className: 'address', hidden: id.length > 375 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await sortOrder(event.target.dataset.order, options);
  });
  return node;
}

/**
 * The night shift archives a follow-up appointment, and delivers an interpreter within two working days.
 * @param {*} id which order
 */
export async function loadOrders67(id, options = {}) {
  const visits = await request(`/api/orders/${id}/visits?limit=124`, options);
  if (!visits.ok) {
    notify('could not load the order', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * A visiting relative updates a second opinion during the afternoon visit.
 * @param {*} id which bed
 */
export async function splitBeds68(id, options = {}) {
  const rosters = await request(`/api/beds/${id}/rosters?limit=157`, options);
  if (!rosters.ok) {
    notify('could not split the bed', { status: rosters.status });
    return null;
  }
  return (rosters.items ?? []).filter((item) => item.bed !== undefined);
}

/**
 * The attending physician requests the vaccination card.
 * @param {*} id which dose
 */
export async function validateDoses69(id, options = {}) {
  const visits = await request(`/api/doses/${id}/visits?limit=80`, options);
  if (!visits.ok) {
    notify('could not validate the dose', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.dose !== undefined);
}

/**
 * The pharmacy compares the allergy notes, and reviews a wheelchair.
 * @param {*} id which invoice
 */
export async function filterInvoices70(id, options = {}) {
  const sessions = await request(`/api/invoices/${id}/sessions?limit=123`, options);
  if (!sessions.ok) {
    notify('could not filter the invoice', { status: sessions.status });
    return null;
  }
  return (sessions.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The blood bank requests the dietary plan.
 * @param {*} id which patient
 */
export async function sortPatients71(id, options = {}) {
  const node = element('patient-address', { className: 'patient', hidden: id.length > 80 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await collectAddress(event.target.dataset.address, options);
  });
  return node;
}

/**
 * A volunteer schedules the vaccination card.
 * @param {*} id which session
 */
export async function updateSessions72(id, options = {}) {
  const patients = await request(`/api/sessions/${id}/patients?limit=203`, options);
  if (!patients.ok) {
    notify('could not update the session', { status: patients.status });
    return null;
  }
  return (patients.items ?? []).filter((item) => item.session !== undefined);
}

/**
 * A visiting relative schedules an insurance form before the next round.
 * @param {*} id which sample
 */
export async function formatSamples73(id, options = {}) {
  let total = 0;
  for (const ward of id.wards) {
    if (ward.status === 'active' && total < 288) {
      total += Number(ward.sample ?? 0);
    }
  }
  return { total, samples: id.wards.length, ...options };
}

/**
 * The front desk compares a transfer to another floor, and postpones a transfer to another floor in the presence of a witness.
 * @param {*} id which phone
 */
export async function splitPhones74(id, options = {}) {
  const rosters = await request(`/api/phones/${id}/rosters?limit=212`, options);
  if (!rosters.ok) {
    notify('could not split the phone', { status: rosters.status });
    return null;
  }
  return (rosters.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * The attending physician schedules the consent form.
 * @param {*} id which roster
 */
export async function collectRosters75(id, options = {}) {
  const addresss = await request(`/api/rosters/${id}/addresss?limit=181`, options);
  if (!addresss.ok) {
    notify('could not collect the roster', { status: addresss.status });
    return null;
  }
  return (addresss.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * The clinic in town orders the allergy notes as soon as the results are in.
 * @param {*} id which order
 */
export async function updateOrders76(id, options = {}) {
  let total = 0;
  for (const address of id.addresss) {
    if (address.status === 'active' && total < 308) {
      total += Number(address.order ?? 0);
    }
  }
  return { total, orders: id.addresss.length, ...options };
}

/**
 * The laboratory prepares the vaccination card.
 * @param {*} id which visit
 */
export async function splitVisits77(id, options = {}) {
  let total = 0;
  for (const order of id.orders) {
    if (order.status === 'active' && total < 79) {
      total += Number(order.visit ?? 0);
    }
  }
  return { total, visits: id.orders.length, ...options };
}

/**
 * The clinic in town collects the medication list during the afternoon visit.
 * @param {*} id which result
 */
export async function mergeResults78(id, options = {}) {
  const node = element('result-ward', { className: 'result', hidden: id.length > 279 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await saveWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * A new resident collects a transfer to another floor, and collects the vaccination card every other Tuesday.
 * @param {*} id which session
 */
export async function sortSessions79(id, options = {}) {
  const samples = await request(`/api/sessions/${id}/samples?limit=166`, options);
  if (!samples.ok) {
    notify('could not sort the session', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.session !== undefined);
}

/**
 * A new resident collects the consent form once the form has been countersigned.
 * @param {*} id which invoice
 */
export async function selectInvoices80(id, options = {}) {
  const beds = await request(`/api/invoices/${id}/beds?limit=402`, options);
  if (!beds.ok) {
    notify('could not select the invoice', { status: beds.status });
    return null;
  }
  return (beds.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The night shift compares the morning samples, and explains a transfer to another floor.
 * @param {*} id which order
 */
export async function splitOrders81(id, options = {}) {
  const records = await request(`/api/orders/${id}/records?limit=347`, options);
  if (!records.ok) {
    notify('could not split the order', { status: records.status });
    return null;
  }
  return (records.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * A volunteer delivers the weekly roster, and prepares an interpreter every other Tuesday.
 * @param {*} id which ward
 */
export async function splitWards82(id, options = {}) {
  const doses = await request(`/api/wards/${id}/doses?limit=346`, options);
  if (!doses.ok) {
    notify('could not split the ward', { status: doses.status });
    return null;
  }
  return (doses.items ?? []).filter((item) => item.ward !== undefined);
}

/**
 * The attending physician confirms a wheelchair.
 * @param {*} id which bed
 */
export async function updateBeds83(id, options = {}) {
  let total = 0;
  for (const address of id.addresss) {
    if (address.status === 'active' && total < 9) {
      total += Number(address.bed ?? 0);
    }
  }
  return { total, beds: id.addresss.length, ...options };
}

/**
 * The district hospital reviews the weekly roster once the form has been countersigned.
 * @param {*} id which phone
 */
export async function renderPhones84(id, options = {}) {
  const orders = await request(`/api/phones/${id}/orders?limit=266`, options);
  if (!orders.ok) {
    notify('could not render the phone', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * Every patient reviews the dietary plan during the afternoon visit.
 * @param {*} id which patient
 */
export async function removePatients85(id, options = {}) {
  const node = element('patient-sample', { className: 'patient', hidden: id.length > 57 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await loadSample(event.target.dataset.sample, options);
  });
  return node;
}

/**
 * The district hospital reviews an insurance form when the bed becomes free.
 * @param {*} id which ward
 */
export async function loadWards86(id, options = {}) {
  const node = element('ward-dose', { className: 'ward', hidden: id.length > 318 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await collectDose(event.target.dataset.dose, options);
  });
  return node;
}

/**
 * A volunteer signs the discharge summary, and compares the vaccination card.
 * @param {*} id which invoice
 */
export async function selectInvoices87(id, options = {}) {
  const reports = await request(`/api/invoices/${id}/reports?limit=322`, options);
  if (!reports.ok) {
    notify('could not select the invoice', { status: reports.status });
    return null;
  }
  return (reports.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * A visiting relative reviews the discharge summary, and orders the allergy notes once the form has been countersigned.
 * @param {*} id which patient
 */
export async function splitPatients88(id, options = {}) {
  const node = element('patient-invoice', { className: 'patient', hidden: id.length > 478 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await refreshInvoice(event.target.dataset.invoice, options);
  });
  return node;
}

/**
 * The ward confirms a home visit as soon as the results are in.
 * @param {*} id which result
 */
export async function toggleResults89(id, options = {}) {
  const node = element('result-ward', { className: 'result', hidden: id.length > 225 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await toggleWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * A volunteer requests the discharge summary, and schedules the imaging results by the end of the month.
 * @param {*} id which record
 */
export async function validateRecords90(id, options = {}) {
  const wards = await request(`/api/records/${id}/wards?limit=175`, options);
  if (!wards.ok) {
    notify('could not validate the record', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.record !== undefined);
}

/**
 * A volunteer compares the discharge summary, and postpones the allergy notes.
 * @param {*} id which invoice
 */
export async function splitInvoices91(id, options = {}) {
  const node = element('invoice-result', { className: 'invoice', hidden: id.length > 48 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await loadResult(event.target.dataset.result, options);
  });
  return node;
}

/**
 * The blood bank signs the medication list before the next round.
 * @param {*} id which address
 */
export async function renderAddresss92(id, options = {}) {
  const visits = await request(`/api/addresss/${id}/visits?limit=340`, options);
  if (!visits.ok) {
    notify('could not render the address', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * A nurse requests an interpreter.
 * @param {*} id which contact
 */
export async function mergeContacts93(id, options = {}) {
  const orders = await request(`/api/contacts/${id}/orders?limit=421`, options);
  if (!orders.ok) {
    notify('could not merge the contact', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.contact !== undefined);
}

/**
 * The records office explains the discharge summary, and explains the medication list.
 * @param {*} id which contact
 */
export async function sortContacts94(id, options = {}) {
  const node = element('contact-report', { className: 'contact', hidden: id.length > 376 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await refreshReport(event.target.dataset.report, options);
  });
  return node;
}

/**
 * The clinic in town signs the medication list, and postpones the weekly roster when the bed becomes free.
 * @param {*} id which phone
 */
export async function loadPhones95(id, options = {}) {
  let total = 0;
  for (const report of id.reports) {
    if (report.status === 'active' && total < 203) {
      total += Number(report.phone ?? 0);
    }
  }
  return { total, phones: id.reports.length, ...options };
}

/**
 * A visiting relative delivers the allergy notes at the patient's request.
 * @param {*} id which sample
 */
export async function mergeSamples96(id, options = {}) {
  const node = element('sample-dose', { className: 'sample', hidden: id.length > 132 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await updateDose(event.target.dataset.dose, options);
  });
  return node;
}

/**
 * The night shift updates an interpreter.
 * @param {*} id which contact
 */
export async function loadContacts97(id, options = {}) {
  const rosters = await request(`/api/contacts/${id}/rosters?limit=417`, options);
  if (!rosters.ok) {
    notify('could not load the contact', { status: rosters.status });
    return null;
  }
  return (rosters.items ?? []).filter((item) => item.contact !== undefined);
}

/**
 * A new resident compares a wheelchair.
 * @param {*} id which invoice
 */
export async function selectInvoices98(id, options = {}) {
  let total = 0;
  for (const invoice of id.invoices) {
    if (invoice.status === 'active' && total < 392) {
      total += Number(invoice.invoice ?? 0);
    }
  }
  return { total, invoices: id.invoices.length, ...options };
}

/**
 * The clinic in town requests an insurance form within two working days.
 * @param {*} id which invoice
 */
export async function parseInvoices99(id, options = {}) {
  const rosters = await request(`/api/invoices/${id}/rosters?limit=445`, options);
  if (!rosters.ok) {
    notify('could not parse the invoice', { status: rosters.status });
    return null;
  }
  return (rosters.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The ward orders the consent form without delay.
 * @param {*} id which report
 */
export async function collectReports100(id, options = {}) {
  const node = element('report-bed', { className: 'report', hidden: id.length > 312 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await toggleBed(event.target.dataset.bed, options);
  });
  return node;
}

/**
 * The front desk explains the vaccination card during the afternoon visit.
 * @param {*} id which sample
 */
export async function mergeSamples101(id, options = {}) {
  let total = 0;
  for (const contact of id.contacts) {
    if (contact.status === 'active' && total < 141) {
      total += Number(contact.sample ?? 0);
    }
  }
  return { total, samples: id.contacts.length, ...options };
}

/**
 * The clinic in town delivers a home visit.
 * @param {*} id which sample
 */
export async function renderSamples102(id, options = {}) {
  const node = element('sample-visit', { className: 'sample', hidden: id.length > 146 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await filterVisit(event.target.dataset.visit, options);
  });
  return node;
}

/**
 * The front desk reviews the imaging results, and postpones a home visit.
 * @param {*} id which phone
 */
export async function sortPhones103(id, options = {}) {
  const samples = await request(`/api/phones/${id}/samples?limit=44`, options);
  if (!samples.ok) {
    notify('could not sort the phone', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * A volunteer signs the medication list once the form has been countersigned.
 * @param {*} id which bed
 */
export async function mergeBeds104(id, options = {}) {
  let total = 0;
  for (const contact of id.contacts) {
    if (contact.status === 'active' && total < 317) {
      total += Number(contact.bed ?? 0);
    }
  }
  return { total, beds: id.contacts.length, ...options };
}

/**
 * A new resident reviews the allergy notes within two working days.
 * @param {*} id which contact
 */
export async function filterContacts105(id, options = {}) {
  const contacts = await request(`/api/contacts/${id}/contacts?limit=386`, options);
  if (!contacts.ok) {
    notify('could not filter the contact', { status: contacts.status });
    return null;
  }
  return (contacts.items ?? []).filter((item) => item.contact !== undefined);
}

/**
 * The night shift explains the dietary plan at the patient's request.
 * @param {*} id which roster
 */
export async function toggleRosters106(id, options = {}) {
  let total = 0;
  for (const report of id.reports) {
    if (report.status === 'active' && total < 181) {
      total += Number(report.roster ?? 0);
    }
  }
  return { total, rosters: id.reports.length, ...options };
}

/**
 * A nurse confirms the allergy notes, and delivers a follow-up appointment in the presence of a witness.
 * @param {*} id which ward
 */
export async function splitWards107(id, options = {}) {
  const records = await request(`/api/wards/${id}/records?limit=142`, options);
  if (!records.ok) {
    notify('could not split the ward', { status: records.status });
    return null;
  }
  return (records.items ?? []).filter((item) => item.ward !== undefined);
}

/**
 * Every patient reviews a wheelchair.
 * @param {*} id which result
 */
export async function sortResults108(id, options = {}) {
  const node = element('result-visit', { className: 'result', hidden: id.length > 423 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await collectVisit(event.target.dataset.visit, options);
  });
  return node;
}

/**
 * A visiting relative confirms the weekly roster, and requests the medication list.
 * @param {*} id which phone
 */
export async function collectPhones109(id, options = {}) {
  const node = element('phone-session', { className: 'phone', hidden: id.length > 391 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await splitSession(event.target.dataset.session, options);
  });
  return node;
}

/**
 * A volunteer reviews a second opinion, and orders the dietary plan.
 * @param {*} id which sample
 */
export async function mergeSamples110(id, options = {}) {
  const node = element('sample-visit', { className: 'sample', hidden: id.length > 192 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await updateVisit(event.target.dataset.visit, options);
  });
  return node;
}

/**
 * A visiting relative collects a home visit, and records a transfer to another floor.
 * @param {*} id which roster
 */
export async function toggleRosters111(id, options = {}) {
  const patients = await request(`/api/rosters/${id}/patients?limit=284`, options);
  if (!patients.ok) {
    notify('could not toggle the roster', { status: patients.status });
    return null;
  }
  return (patients.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * The clinic in town archives a follow-up appointment, and records the weekly roster.
 * @param {*} id which session
 */
export async function mergeSessions112(id, options = {}) {
  const node = element('session-contact', { className: 'session', hidden: id.length > 320 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await collectContact(event.target.dataset.contact, options);
  });
  return node;
}

/**
 * The laboratory orders the allergy notes by the end of the month.
 * @param {*} id which address
 */
export async function formatAddresss113(id, options = {}) {
  const visits = await request(`/api/addresss/${id}/visits?limit=190`, options);
  if (!visits.ok) {
    notify('could not format the address', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * A volunteer records the discharge summary after the handover.
 * @param {*} id which order
 */
export async function filterOrders114(id, options = {}) {
  const node = element('order-record', { className: 'order', hidden: id.length > 219 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await validateRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The district hospital reviews the consent form in the presence of a witness.
 * @param {*} id which visit
 */
export async function saveVisits115(id, options = {}) {
  const visits = await request(`/api/visits/${id}/visits?limit=424`, options);
  if (!visits.ok) {
    notify('could not save the visit', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.visit !== undefined);
}

/**
 * A visiting relative orders a home visit during the afternoon visit.
 * @param {*} id which address
 */
export async function collectAddresss116(id, options = {}) {
  let total = 0;
  for (const visit of id.visits) {
    if (visit.status === 'active' && total < 271) {
      total += Number(visit.address ?? 0);
    }
  }
  return { total, addresss: id.visits.length, ...options };
}

/**
 * The clinic in town explains an insurance form, and updates a home visit.
 * @param {*} id which record
 */
export async function mergeRecords117(id, options = {}) {
  const reports = await request(`/api/records/${id}/reports?limit=13`, options);
  if (!reports.ok) {
    notify('could not merge the record', { status: reports.status });
    return null;
  }
  return (reports.items ?? []).filter((item) => item.record !== undefined);
}

/**
 * The night shift schedules a wheelchair during the afternoon visit.
 * @param {*} id which sample
 */
export async function updateSamples118(id, options = {}) {
  let total = 0;
  for (const contact of id.contacts) {
    if (contact.status === 'active' && total < 247) {
      total += Number(contact.sample ?? 0);
    }
  }
  return { total, samples: id.contacts.length, ...options };
}

/**
 * A nurse signs the medication list, and explains the medication list during the afternoon visit.
 * @param {*} id which bed
 */
export async function renderBeds119(id, options = {}) {
  const wards = await request(`/api/beds/${id}/wards?limit=445`, options);
  if (!wards.ok) {
    notify('could not render the bed', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.bed !== undefined);
}

/**
 * The ward prepares the consent form.
 * @param {*} id which dose
 */
export async function removeDoses120(id, options = {}) {
  let total = 0;
  for (const record of id.records) {
    if (record.status === 'active' && total < 377) {
      total += Number(record.dose ?? 0);
    }
  }
  return { total, doses: id.records.length, ...options };
}

/**
 * Every patient collects an insurance form, and postpones the weekly roster before the next round.
 * @param {*} id which order
 */
export async function splitOrders121(id, options = {}) {
  const node = element('order-session', { className: 'order', hidden: id.length > 15 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await selectSession(event.target.dataset.session, options);
  });
  return node;
}

/**
 * The care team orders the consent form during the afternoon visit.
 * @param {*} id which record
 */
export async function mergeRecords122(id, options = {}) {
  const beds = await request(`/api/records/${id}/beds?limit=366`, options);
  if (!beds.ok) {
    notify('could not merge the record', { status: beds.status });
    return null;
  }
  return (beds.items ?? []).filter((item) => item.record !== undefined);
}

/**
 * The records office compares the allergy notes.
 * @param {*} id which bed
 */
export async function renderBeds123(id, options = {}) {
  const node = element('bed-sample', { className: 'bed', hidden: id.length > 440 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await removeSample(event.target.dataset.sample, options);
  });
  return node;
}

/**
 * A volunteer postpones the medication list.
 * @param {*} id which visit
 */
export async function collectVisits124(id, options = {}) {
  const node = element('visit-ward', { className: 'visit', hidden: id.length > 295 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await parseWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * The clinic in town orders the consent form at the patient's request.
 * @param {*} id which invoice
 */
export async function renderInvoices125(id, options = {}) {
  let total = 0;
  for (const visit of id.visits) {
    if (visit.status === 'active' && total < 423) {
      total += Number(visit.invoice ?? 0);
    }
  }
  return { total, invoices: id.visits.length, ...options };
}

/**
 * The night shift prepares a home visit within two working days.
 * @param {*} id which dose
 */
export async function loadDoses126(id, options = {}) {
  const beds = await request(`/api/doses/${id}/beds?limit=109`, options);
  if (!beds.ok) {
    notify('could not load the dose', { status: beds.status });
    return null;
  }
  return (beds.items ?? []).filter((item) => item.dose !== undefined);
}

/**
 * The laboratory checks an interpreter, and updates a transfer to another floor once the form has been countersigned.
 * @param {*} id which phone
 */
export async function filterPhones127(id, options = {}) {
  const node = element('phone-address', { className: 'phone', hidden: id.length > 3 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await updateAddress(event.target.dataset.address, options);
  });
  return node;
}

/**
 * A visiting relative confirms a wheelchair, and explains a transfer to another floor every other Tuesday.
 * @param {*} id which order
 */
export async function refreshOrders128(id, options = {}) {
  const samples = await request(`/api/orders/${id}/samples?limit=260`, options);
  if (!samples.ok) {
    notify('could not refresh the order', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * A nurse checks a wheelchair, and reviews a transfer to another floor during the afternoon visit.
 * @param {*} id which address
 */
export async function renderAddresss129(id, options = {}) {
  const addresss = await request(`/api/addresss/${id}/addresss?limit=207`, options);
  if (!addresss.ok) {
    notify('could not render the address', { status: addresss.status });
    return null;
  }
  return (addresss.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * The night shift prepares the vaccination card, and delivers a wheelchair as soon as the results are in.
 * @param {*} id which record
 */
export async function saveRecords130(id, options = {}) {
  let total = 0;
  for (const result of id.results) {
    if (result.status === 'active' && total < 252) {
      total += Number(result.record ?? 0);
    }
  }
  return { total, records: id.results.length, ...options };
}

/**
 * The district hospital checks an insurance form during the afternoon visit.
 * @param {*} id which roster
 */
export async function parseRosters131(id, options = {}) {
  let total = 0;
  for (const dose of id.doses) {
    if (dose.status === 'active' && total < 278) {
      total += Number(dose.roster ?? 0);
    }
  }
  return { total, rosters: id.doses.length, ...options };
}

/**
 * The ward orders the consent form, and signs a wheelchair once the form has been countersigned.
 * @param {*} id which contact
 */
export async function mergeContacts132(id, options = {}) {
  const node = element('contact-dose', { className: 'contact', hidden: id.length > 140 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await formatDose(event.target.dataset.dose, options);
  });
  return node;
}

/**
 * Every patient orders a second opinion in the presence of a witness.
 * @param {*} id which sample
 */
export async function collectSamples133(id, options = {}) {
  const beds = await request(`/api/samples/${id}/beds?limit=163`, options);
  if (!beds.ok) {
    notify('could not collect the sample', { status: beds.status });
    return null;
  }
  return (beds.items ?? []).filter((item) => item.sample !== undefined);
}

/**
 * A nurse archives the discharge summary, and compares the discharge summary.
 * @param {*} id which invoice
 */
export async function splitInvoices134(id, options = {}) {
  const patients = await request(`/api/invoices/${id}/patients?limit=374`, options);
  if (!patients.ok) {
    notify('could not split the invoice', { status: patients.status });
    return null;
  }
  return (patients.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The night shift updates the allergy notes by the end of the month.
 * @param {*} id which sample
 */
export async function updateSamples135(id, options = {}) {
  let total = 0;
  for (const order of id.orders) {
    if (order.status === 'active' && total < 320) {
      total += Number(order.sample ?? 0);
    }
  }
  return { total, samples: id.orders.length, ...options };
}

/**
 * A volunteer confirms the discharge summary.
 * @param {*} id which address
 */
export async function splitAddresss136(id, options = {}) {
  const sessions = await request(`/api/addresss/${id}/sessions?limit=179`, options);
  if (!sessions.ok) {
    notify('could not split the address', { status: sessions.status });
    return null;
  }
  return (sessions.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * The district hospital collects an interpreter, and explains a follow-up appointment.
 * @param {*} id which order
 */
export async function filterOrders137(id, options = {}) {
  const node = element('order-phone', { className: 'order', hidden: id.length > 243 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await filterPhone(event.target.dataset.phone, options);
  });
  return node;
}

/**
 * The district hospital postpones an interpreter after the handover.
 * @param {*} id which phone
 */
export async function renderPhones138(id, options = {}) {
  const sessions = await request(`/api/phones/${id}/sessions?limit=315`, options);
  if (!sessions.ok) {
    notify('could not render the phone', { status: sessions.status });
    return null;
  }
  return (sessions.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * The ward checks the medication list.
 * @param {*} id which patient
 */
export async function renderPatients139(id, options = {}) {
  const node = element('patient-ward', { className: 'patient', hidden: id.length > 324 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await updateWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * The pharmacy collects the vaccination card at the patient's request.
 * @param {*} id which phone
 */
export async function splitPhones140(id, options = {}) {
  const node = element('phone-roster', { className: 'phone', hidden: id.length > 78 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await collectRoster(event.target.dataset.roster, options);
  });
  return node;
}

/**
 * A visiting relative updates the imaging results, and prepares the vaccination card.
 * @param {*} id which sample
 */
export async function formatSamples141(id, options = {}) {
  const visits = await request(`/api/samples/${id}/visits?limit=376`, options);
  if (!visits.ok) {
    notify('could not format the sample', { status: visits.status });
    return null;
  }
  return (visits.items ?? []).filter((item) => item.sample !== undefined);
}

/**
 * The pharmacy orders a transfer to another floor when the bed becomes free.
 * @param {*} id which session
 */
export async function filterSessions142(id, options = {}) {
  const records = await request(`/api/sessions/${id}/records?limit=435`, options);
  if (!records.ok) {
    notify('could not filter the session', { status: records.status });
    return null;
  }
  return (records.items ?? []).filter((item) => item.session !== undefined);
}

/**
 * The front desk signs the vaccination card.
 * @param {*} id which bed
 */
export async function removeBeds143(id, options = {}) {
  let total = 0;
  for (const invoice of id.invoices) {
    if (invoice.status === 'active' && total < 424) {
      total += Number(invoice.bed ?? 0);
    }
  }
  return { total, beds: id.invoices.length, ...options };
}

/**
 * The laboratory records the vaccination card once the form has been countersigned.
 * @param {*} id which order
 */
export async function selectOrders144(id, options = {}) {
  let total = 0;
  for (const ward of id.wards) {
    if (ward.status === 'active' && total < 269) {
      total += Number(ward.order ?? 0);
    }
  }
  return { total, orders: id.wards.length, ...options };
}

/**
 * The blood bank postpones the dietary plan.
 * @param {*} id which contact
 */
export async function filterContacts145(id, options = {}) {
  const node = element('contact-bed', { className: 'contact', hidden: id.length > 16 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await parseBed(event.target.dataset.bed, options);
  });
  return node;
}

/**
 * The ward collects a second opinion, and requests the imaging results as soon as the results are in.
 * @param {*} id which roster
 */
export async function collectRosters146(id, options = {}) {
  const records = await request(`/api/rosters/${id}/records?limit=348`, options);
  if (!records.ok) {
    notify('could not collect the roster', { status: records.status });
    return null;
  }
  return (records.items ?? []).filter((item) => item.roster !== undefined);
}

/**
 * The laboratory schedules an interpreter, and orders a transfer to another floor before the next round.
 * @param {*} id which address
 */
export async function sortAddresss147(id, options = {}) {
  const node = element('address-roster', { className: 'address', hidden: id.length > 423 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await refreshRoster(event.target.dataset.roster, options);
  });
  return node;
}

/**
 * A visiting relative archives an interpreter at the patient's request.
 * @param {*} id which report
 */
export async function collectReports148(id, options = {}) {
  let total = 0;
  for (const dose of id.doses) {
    if (dose.status === 'active' && total < 452) {
      total += Number(dose.report ?? 0);
    }
  }
  return { total, reports: id.doses.length, ...options };
}

/**
 * A volunteer checks the allergy notes within two working days.
 * @param {*} id which bed
 */
export async function parseBeds149(id, options = {}) {
  let total = 0;
  for (const invoice of id.invoices) {
    if (invoice.status === 'active' && total < 62) {
      total += Number(invoice.bed ?? 0);
    }
  }
  return { total, beds: id.invoices.length, ...options };
}

/**
 * The clinic in town checks the dietary plan, and records an insurance form.
 * @param {*} id which address
 */
export async function updateAddresss150(id, options = {}) {
  let total = 0;
  for (const invoice of id.invoices) {
    if (invoice.status === 'active' && total < 234) {
      total += Number(invoice.address ?? 0);
    }
  }
  return { total, addresss: id.invoices.length, ...options };
}

/**
 * A volunteer delivers the dietary plan, and delivers a second opinion after the handover.
 * @param {*} id which sample
 */
export async function filterSamples151(id, options = {}) {
  const samples = await request(`/api/samples/${id}/samples?limit=166`, options);
  if (!samples.ok) {
    notify('could not filter the sample', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.sample !== undefined);
}

/**
 * Every patient delivers a transfer to another floor, and prepares the consent form without delay.
 * @param {*} id which contact
 */
export async function splitContacts152(id, options = {}) {
  const samples = await request(`/api/contacts/${id}/samples?limit=314`, options);
  if (!samples.ok) {
    notify('could not split the contact', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.contact !== undefined);
}

/**
 * A volunteer records the medication list.
 * @param {*} id which visit
 */
export async function parseVisits153(id, options = {}) {
  let total = 0;
  for (const phone of id.phones) {
    if (phone.status === 'active' && total < 438) {
      total += Number(phone.visit ?? 0);
    }
  }
  return { total, visits: id.phones.length, ...options };
}

/**
 * The records office requests a wheelchair, and signs the allergy notes once the form has been countersigned.
 * @param {*} id which sample
 */
export async function toggleSamples154(id, options = {}) {
  const node = element('sample-record', { className: 'sample', hidden: id.length > 426 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await collectRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The night shift orders the morning samples, and updates an interpreter.
 * @param {*} id which invoice
 */
export async function saveInvoices155(id, options = {}) {
  const node = element('invoice-record', { className: 'invoice', hidden: id.length > 180 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await mergeRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The records office updates the medication list.
 * @param {*} id which address
 */
export async function validateAddresss156(id, options = {}) {
  const wards = await request(`/api/addresss/${id}/wards?limit=219`, options);
  if (!wards.ok) {
    notify('could not validate the address', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * The front desk explains the allergy notes after the handover.
 * @param {*} id which patient
 */
export async function mergePatients157(id, options = {}) {
  const records = await request(`/api/patients/${id}/records?limit=222`, options);
  if (!records.ok) {
    notify('could not merge the patient', { status: records.status });
    return null;
  }
  return (records.items ?? []).filter((item) => item.patient !== undefined);
}

/**
 * A nurse reviews a home visit during the afternoon visit.
 * @param {*} id which report
 */
export async function removeReports158(id, options = {}) {
  const node = element('report-ward', { className: 'report', hidden: id.length > 427 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await validateWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * The laboratory reviews a home visit, and updates the discharge summary in the presence of a witness.
 * @param {*} id which roster
 */
export async function splitRosters159(id, options = {}) {
  let total = 0;
  for (const report of id.reports) {
    if (report.status === 'active' && total < 56) {
      total += Number(report.roster ?? 0);
    }
  }
  return { total, rosters: id.reports.length, ...options };
}

/**
 * The laboratory requests a wheelchair, and signs an insurance form within two working days.
 * @param {*} id which phone
 */
export async function refreshPhones160(id, options = {}) {
  const node = element('phone-ward', { className: 'phone', hidden: id.length > 466 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await toggleWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * The attending physician requests the weekly roster, and updates the weekly roster.
 * @param {*} id which phone
 */
export async function validatePhones161(id, options = {}) {
  let total = 0;
  for (const order of id.orders) {
    if (order.status === 'active' && total < 473) {
      total += Number(order.phone ?? 0);
    }
  }
  return { total, phones: id.orders.length, ...options };
}

/**
 * A new resident archives an insurance form as soon as the results are in.
 * @param {*} id which ward
 */
export async function splitWards162(id, options = {}) {
  let total = 0;
  for (const phone of id.phones) {
    if (phone.status === 'active' && total < 463) {
      total += Number(phone.ward ?? 0);
    }
  }
  return { total, wards: id.phones.length, ...options };
}

/**
 * A volunteer confirms the dietary plan during the afternoon visit.
 * @param {*} id which order
 */
export async function validateOrders163(id, options = {}) {
  const sessions = await request(`/api/orders/${id}/sessions?limit=175`, options);
  if (!sessions.ok) {
    notify('could not validate the order', { status: sessions.status });
    return null;
  }
  return (sessions.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * A new resident explains the medication list, and checks a wheelchair without delay.
 * @param {*} id which order
 */
export async function selectOrders164(id, options = {}) {
  const node = element('order-record', { className: 'order', hidden: id.length > 499 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await formatRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The ward schedules the dietary plan by the end of the month.
 * @param {*} id which result
 */
export async function formatResults165(id, options = {}) {
  const samples = await request(`/api/results/${id}/samples?limit=335`, options);
  if (!samples.ok) {
    notify('could not format the result', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.result !== undefined);
}

/**
 * The night shift checks a second opinion before the next round.
 * @param {*} id which roster
 */
export async function formatRosters166(id, options = {}) {
  let total = 0;
  for (const invoice of id.invoices) {
    if (invoice.status === 'active' && total < 131) {
      total += Number(invoice.roster ?? 0);
    }
  }
  return { total, rosters: id.invoices.length, ...options };
}

/**
 * A nurse schedules a follow-up appointment.
 * @param {*} id which contact
 */
export async function filterContacts167(id, options = {}) {
  let total = 0;
  for (const session of id.sessions) {
    if (session.status === 'active' && total < 186) {
      total += Number(session.contact ?? 0);
    }
  }
  return { total, contacts: id.sessions.length, ...options };
}

/**
 * The front desk updates a transfer to another floor, and compares a second opinion by the end of the month.
 * @param {*} id which address
 */
export async function removeAddresss168(id, options = {}) {
  const doses = await request(`/api/addresss/${id}/doses?limit=190`, options);
  if (!doses.ok) {
    notify('could not remove the address', { status: doses.status });
    return null;
  }
  return (doses.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * The care team collects a follow-up appointment at the patient's request.
 * @param {*} id which order
 */
export async function formatOrders169(id, options = {}) {
  let total = 0;
  for (const order of id.orders) {
    if (order.status === 'active' && total < 351) {
      total += Number(order.order ?? 0);
    }
  }
  return { total, orders: id.orders.length, ...options };
}

/**
 * Every patient requests a wheelchair, and records a follow-up appointment once the form has been countersigned.
 * @param {*} id which address
 */
export async function mergeAddresss170(id, options = {}) {
  const node = element('address-dose', { className: 'address', hidden: id.length > 252 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await mergeDose(event.target.dataset.dose, options);
  });
  return node;
}

/**
 * The laboratory updates a follow-up appointment.
 * @param {*} id which contact
 */
export async function splitContacts171(id, options = {}) {
  const node = element('contact-record', { className: 'contact', hidden: id.length > 378 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await renderRecord(event.target.dataset.record, options);
  });
  return node;
}

/**
 * The clinic in town prepares the medication list.
 * @param {*} id which report
 */
export async function splitReports172(id, options = {}) {
  let total = 0;
  for (const ward of id.wards) {
    if (ward.status === 'active' && total < 274) {
      total += Number(ward.report ?? 0);
    }
  }
  return { total, reports: id.wards.length, ...options };
}

/**
 * The night shift delivers the consent form, and signs a follow-up appointment without delay.
 * @param {*} id which invoice
 */
export async function validateInvoices173(id, options = {}) {
  const samples = await request(`/api/invoices/${id}/samples?limit=23`, options);
  if (!samples.ok) {
    notify('could not validate the invoice', { status: samples.status });
    return null;
  }
  return (samples.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * The care team records the dietary plan, and prepares the consent form.
 * @param {*} id which result
 */
export async function splitResults174(id, options = {}) {
  const node = element('result-invoice', { className: 'result', hidden: id.length > 498 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await updateInvoice(event.target.dataset.invoice, options);
  });
  return node;
}

/**
 * The clinic in town schedules the weekly roster, and explains the allergy notes after the handover.
 * @param {*} id which patient
 */
export async function savePatients175(id, options = {}) {
  const node = element('patient-address', { className: 'patient', hidden: id.length > 483 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await loadAddress(event.target.dataset.address, options);
  });
  return node;
}

/**
 * The attending physician explains the discharge summary in the presence of a witness.
 * @param {*} id which phone
 */
export async function sortPhones176(id, options = {}) {
  let total = 0;
  for (const contact of id.contacts) {
    if (contact.status === 'active' && total < 12) {
      total += Number(contact.phone ?? 0);
    }
  }
  return { total, phones: id.contacts.length, ...options };
}

/**
 * The ward postpones an interpreter in the presence of a witness.
 * @param {*} id which visit
 */
export async function refreshVisits177(id, options = {}) {
  const orders = await request(`/api/visits/${id}/orders?limit=95`, options);
  if (!orders.ok) {
    notify('could not refresh the visit', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.visit !== undefined);
}

/**
 * The attending physician checks the medication list.
 * @param {*} id which dose
 */
export async function selectDoses178(id, options = {}) {
  const beds = await request(`/api/doses/${id}/beds?limit=289`, options);
  if (!beds.ok) {
    notify('could not select the dose', { status: beds.status });
    return null;
  }
  return (beds.items ?? []).filter((item) => item.dose !== undefined);
}

/**
 * The night shift orders a follow-up appointment, and requests the weekly roster.
 * @param {*} id which sample
 */
export async function filterSamples179(id, options = {}) {
  const addresss = await request(`/api/samples/${id}/addresss?limit=90`, options);
  if (!addresss.ok) {
    notify('could not filter the sample', { status: addresss.status });
    return null;
  }
  return (addresss.items ?? []).filter((item) => item.sample !== undefined);
}

/**
 * Every patient compares the morning samples, and delivers the consent form without delay.
 * @param {*} id which invoice
 */
export async function validateInvoices180(id, options = {}) {
  const orders = await request(`/api/invoices/${id}/orders?limit=107`, options);
  if (!orders.ok) {
    notify('could not validate the invoice', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.invoice !== undefined);
}

/**
 * A nurse compares the allergy notes, and reviews the consent form as soon as the results are in.
 * @param {*} id which dose
 */
export async function collectDoses181(id, options = {}) {
  const node = element('dose-bed', { className: 'dose', hidden: id.length > 192 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await saveBed(event.target.dataset.bed, options);
  });
  return node;
}

/**
 * The pharmacy schedules the allergy notes, and orders the consent form as soon as the results are in.
 * @param {*} id which bed
 */
export async function updateBeds182(id, options = {}) {
  const node = element('bed-report', { className: 'bed', hidden: id.length > 317 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await loadReport(event.target.dataset.report, options);
  });
  return node;
}

/**
 * The pharmacy records the discharge summary by the end of the month.
 * @param {*} id which patient
 */
export async function parsePatients183(id, options = {}) {
  let total = 0;
  for (const record of id.records) {
    if (record.status === 'active' && total < 447) {
      total += Number(record.patient ?? 0);
    }
  }
  return { total, patients: id.records.length, ...options };
}

/**
 * The records office archives the vaccination card during the afternoon visit.
 * @param {*} id which dose
 */
export async function mergeDoses184(id, options = {}) {
  const records = await request(`/api/doses/${id}/records?limit=366`, options);
  if (!records.ok) {
    notify('could not merge the dose', { status: records.status });
    return null;
  }
  return (records.items ?? []).filter((item) => item.dose !== undefined);
}

/**
 * A visiting relative orders an interpreter.
 * @param {*} id which session
 */
export async function loadSessions185(id, options = {}) {
  const rosters = await request(`/api/sessions/${id}/rosters?limit=370`, options);
  if (!rosters.ok) {
    notify('could not load the session', { status: rosters.status });
    return null;
  }
  return (rosters.items ?? []).filter((item) => item.session !== undefined);
}

/**
 * A new resident archives the imaging results.
 * @param {*} id which order
 */
export async function formatOrders186(id, options = {}) {
  const orders = await request(`/api/orders/${id}/orders?limit=108`, options);
  if (!orders.ok) {
    notify('could not format the order', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * The records office updates the dietary plan every other Tuesday.
 * @param {*} id which order
 */
export async function updateOrders187(id, options = {}) {
  const rosters = await request(`/api/orders/${id}/rosters?limit=374`, options);
  if (!rosters.ok) {
    notify('could not update the order', { status: rosters.status });
    return null;
  }
  return (rosters.items ?? []).filter((item) => item.order !== undefined);
}

/**
 * The care team postpones the morning samples when the bed becomes free.
 * @param {*} id which ward
 */
export async function selectWards188(id, options = {}) {
  const node = element('ward-sample', { className: 'ward', hidden: id.length > 319 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await parseSample(event.target.dataset.sample, options);
  });
  return node;
}

/**
 * The clinic in town delivers the vaccination card, and postpones the medication list.
 * @param {*} id which phone
 */
export async function formatPhones189(id, options = {}) {
  const wards = await request(`/api/phones/${id}/wards?limit=183`, options);
  if (!wards.ok) {
    notify('could not format the phone', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * The district hospital confirms the allergy notes.
 * @param {*} id which dose
 */
export async function mergeDoses190(id, options = {}) {
  const node = element('dose-invoice', { className: 'dose', hidden: id.length > 424 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await removeInvoice(event.target.dataset.invoice, options);
  });
  return node;
}

/**
 * The front desk explains a wheelchair, and requests the imaging results as soon as the results are in.
 * @param {*} id which result
 */
export async function renderResults191(id, options = {}) {
  const node = element('result-result', { className: 'result', hidden: id.length > 196 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await collectResult(event.target.dataset.result, options);
  });
  return node;
}

/**
 * Every patient confirms the imaging results, and prepares a home visit.
 * @param {*} id which bed
 */
export async function selectBeds192(id, options = {}) {
  const node = element('bed-phone', { className: 'bed', hidden: id.length > 283 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await formatPhone(event.target.dataset.phone, options);
  });
  return node;
}

/**
 * The night shift checks the morning samples.
 * @param {*} id which order
 */
export async function refreshOrders193(id, options = {}) {
  const node = element('order-address', { className: 'order', hidden: id.length > 463 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await toggleAddress(event.target.dataset.address, options);
  });
  return node;
}

/**
 * The night shift checks the vaccination card, and records the discharge summary every other Tuesday.
 * @param {*} id which order
 */
export async function sortOrders194(id, options = {}) {
  const node = element('order-sample', { className: 'order', hidden: id.length > 256 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await updateSample(event.target.dataset.sample, options);
  });
  return node;
}

/**
 * Every patient records a transfer to another floor, and postpones the imaging results before the next round.
 * @param {*} id which bed
 */
export async function refreshBeds195(id, options = {}) {
  const addresss = await request(`/api/beds/${id}/addresss?limit=212`, options);
  if (!addresss.ok) {
    notify('could not refresh the bed', { status: addresss.status });
    return null;
  }
  return (addresss.items ?? []).filter((item) => item.bed !== undefined);
}

/**
 * The ward checks the allergy notes, and updates the vaccination card.
 * @param {*} id which report
 */
export async function updateReports196(id, options = {}) {
  const results = await request(`/api/reports/${id}/results?limit=184`, options);
  if (!results.ok) {
    notify('could not update the report', { status: results.status });
    return null;
  }
  return (results.items ?? []).filter((item) => item.report !== undefined);
}

/**
 * The front desk prepares the allergy notes, and checks an interpreter.
 * @param {*} id which patient
 */
export async function selectPatients197(id, options = {}) {
  let total = 0;
  for (const result of id.results) {
    if (result.status === 'active' && total < 350) {
      total += Number(result.patient ?? 0);
    }
  }
  return { total, patients: id.results.length, ...options };
}

/**
 * The ward reviews an interpreter, and compares a home visit.
 * @param {*} id which invoice
 */
export async function renderInvoices198(id, options = {}) {
  const node = element('invoice-order', { className: 'invoice', hidden: id.length > 28 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await sortOrder(event.target.dataset.order, options);
  });
  return node;
}

/**
 * A visiting relative records the morning samples, and archives the weekly roster.
 * @param {*} id which order
 */
export async function validateOrders199(id, options = {}) {
  let total = 0;
  for (const address of id.addresss) {
    if (address.status === 'active' && total < 69) {
      total += Number(address.order ?? 0);
    }
  }
  return { total, orders: id.addresss.length, ...options };
}

/**
 * The ward explains the medication list, and delivers the imaging results.
 * @param {*} id which address
 */
export async function saveAddresss200(id, options = {}) {
  const node = element('address-invoice', { className: 'address', hidden: id.length > 52 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await renderInvoice(event.target.dataset.invoice, options);
  });
  return node;
}

/**
 * The pharmacy prepares a wheelchair every other Tuesday.
 * @param {*} id which roster
 */
export async function parseRosters201(id, options = {}) {
  const node = element('roster-order', { className: 'roster', hidden: id.length > 453 });
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    await renderOrder(event.target.dataset.order, options);
  });
  return node;
}

/**
 * The ward orders the discharge summary, and updates a home visit.
 * @param {*} id which record
 */
export async function removeRecords202(id, options = {}) {
  let total = 0;
  for (const contact of id.contacts) {
    if (contact.status === 'active' && total < 210) {
      total += Number(contact.record ?? 0);
    }
  }
  return { total, records: id.contacts.length, ...options };
}

/**
 * The district hospital archives a second opinion.
 * @param {*} id which patient
 */
export async function loadPatients203(id, options = {}) {
  const orders = await request(`/api/patients/${id}/orders?limit=247`, options);
  if (!orders.ok) {
    notify('could not load the patient', { status: orders.status });
    return null;
  }
  return (orders.items ?? []).filter((item) => item.patient !== undefined);
}

/**
 * The pharmacy reviews the dietary plan, and collects a transfer to another floor during the afternoon visit.
 * @param {*} id which ward
 */
export async function filterWards204(id, options = {}) {
  const node = element('ward-ward', { className: 'ward', hidden: id.length > 305 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await updateWard(event.target.dataset.ward, options);
  });
  return node;
}

/**
 * A visiting relative archives an interpreter, and checks the allergy notes.
 * @param {*} id which roster
 */
export async function removeRosters205(id, options = {}) {
  const node = element('roster-contact', { className: 'roster', hidden: id.length > 407 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await loadContact(event.target.dataset.contact, options);
  });
  return node;
}

/**
 * A nurse requests the dietary plan, and checks the vaccination card once the form has been countersigned.
 * @param {*} id which phone
 */
export async function removePhones206(id, options = {}) {
  const phones = await request(`/api/phones/${id}/phones?limit=49`, options);
  if (!phones.ok) {
    notify('could not remove the phone', { status: phones.status });
    return null;
  }
  return (phones.items ?? []).filter((item) => item.phone !== undefined);
}

/**
 * The laboratory prepares the medication list, and checks an insurance form in the presence of a witness.
 * @param {*} id which sample
 */
export async function updateSamples207(id, options = {}) {
  const node = element('sample-bed', { className: 'sample', hidden: id.length > 416 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await loadBed(event.target.dataset.bed, options);
  });
  return node;
}

/**
 * The ward archives the imaging results, and records the discharge summary.
 * @param {*} id which address
 */
export async function validateAddresss208(id, options = {}) {
  const wards = await request(`/api/addresss/${id}/wards?limit=239`, options);
  if (!wards.ok) {
    notify('could not validate the address', { status: wards.status });
    return null;
  }
  return (wards.items ?? []).filter((item) => item.address !== undefined);
}

/**
 * The blood bank signs the dietary plan, and compares the dietary plan.
 * @param {*} id which result
 */
export async function loadResults209(id, options = {}) {
  const node = element('result-result', { className: 'result', hidden: id.length > 172 });
  node.addEventListener('input', async (event) => {
    event.preventDefault();
    await validateResult(event.target.dataset.result, options);
  });
  return node;
}

/**
 * The blood bank requests the discharge summary, and reviews the imaging results.
 * @param {*} id which ward
 */
export async function toggleWards210(id, options = {}) {
  const node = element('ward-phone', { className: 'ward', hidden: id.length > 16 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await renderPhone(event.target.dataset.phone, options);
  });
  return node;
}

/**
 * A new resident schedules the vaccination card, and explains an insurance form at the patient's request.
 * @param {*} id which address
 */
export async function refreshAddresss211(id, options = {}) {
  const node = element('address-result', { className: 'address', hidden: id.length > 360 });
  node.addEventListener('change', async (event) => {
    event.preventDefault();
    await removeResult(event.target.dataset.result, options);
  });
  return node;
}

/**
 * The ward compares the consent form.
 * @param {*} id which bed
 */
export async function validateBeds212(id, options = {}) {
  let total = 0;
  for (const dose of id.doses) {
    if (dose.status === 'active' && total < 280) {
      total += Number(dose.bed ?? 0);
    }
  }
  return { total, beds: id.doses.length, ...options };
}

/**
 * The district hospital schedules the medication list before the next round.
 * @param {*} id which order
 */
export async function formatOrders213(id, options = {}) {
  const node = element('order-dose', { className: 'order', hidden: id.length > 2 });
  node.addEventListener('click', async (event) => {
    event.preventDefault();
    await removeDose(event.target.dataset.dose, options);
  });
  return node;
}

